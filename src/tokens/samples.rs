//! Texts to hold the estimate against: written for this test, several per script; none of them was used to choose the
//! allowances.

/// Realistic texts, by kind.
pub(super) const SAMPLES: &[(&str, &str)] = &[
    (
        "English prose",
        "The kitchen of the old hotel opened onto a courtyard where two lemon trees stood in cracked terracotta pots. Every morning before the guests came down, Marta swept the fallen leaves into a basket, counted the eggs, and wrote the day's menu on a slate. She had done so for nineteen years and had never once repeated a Tuesday.",
    ),
    (
        "English business",
        "Draft a positioning statement for the company in the given market. Name the audience, the problem they would pay to have solved, and the one claim a competitor could not make. Keep it under sixty words, avoid superlatives, and list three pieces of evidence that a sceptical buyer would accept, ordered by how quickly they can be verified.",
    ),
    (
        "English technical",
        "The scheduler drains the ready queue in file order. When a worker returns, its output is bound under the step's name, dependants are unlocked, and the next wave starts without waiting for stragglers. Cancellation is cooperative: a step checks the token between retries, so a hung upstream never blocks shutdown for longer than its own timeout.",
    ),
    (
        "German prose",
        "Am späten Nachmittag zog ein Gewitter über den See, und die Segelboote kehrten eilig in den Hafen zurück. Im Bootshaus roch es nach Teer und nassem Holz. Der alte Fährmann saß auf einer umgedrehten Kiste, flickte sein Netz und erzählte den Kindern, wie er einmal einen Wels gefangen hatte, der länger war als sein Ruderboot breit.",
    ),
    (
        "German business",
        "Erstellen Sie eine Zusammenfassung des Quartalsberichts für die Geschäftsführung. Nennen Sie Umsatzentwicklung, Auftragseingang und die wichtigsten Abweichungen vom Plan. Begründen Sie jede Abweichung in höchstens zwei Sätzen und schlagen Sie Maßnahmen vor, die innerhalb der nächsten sechs Wochen umgesetzt werden können, ohne zusätzliche Haushaltsmittel zu beantragen.",
    ),
    (
        "German compound words",
        "Die Straßenverkehrszulassungsverordnung regelt die Voraussetzungen der Betriebserlaubnis. Versicherungsunternehmen verlangen außerdem eine Haftpflichtbescheinigung, und das Landesverwaltungsamt prüft die Zuverlässigkeit des Antragstellers. Der Genehmigungsbescheid enthält Nebenbestimmungen, deren Nichtbeachtung ein Ordnungswidrigkeitenverfahren nach sich zieht.",
    ),
    (
        "Spanish prose",
        "La plaza del pueblo se llenaba cada domingo de vendedores que llegaban antes del amanecer. Había quesos envueltos en hojas de parra, miel oscura de castaño y montones de pimientos rojos. Mi abuela regateaba con todos, no porque le faltara dinero, sino porque, según decía, una compra sin conversación era como una sopa sin sal.",
    ),
    (
        "Spanish business",
        "Redacta un correo de seguimiento para un cliente que solicitó una cotización hace dos semanas y todavía no ha respondido. Mantén un tono cordial, recuerda los beneficios principales del servicio, ofrece una llamada de quince minutos y termina con una pregunta concreta que facilite la respuesta. No menciones descuentos salvo que el cliente los haya pedido.",
    ),
    (
        "French prose",
        "Le train de nuit traversait la plaine sans s'arrêter, et l'on n'entendait plus que le bruit régulier des roues. Dans le compartiment voisin, quelqu'un lisait à voix basse un conte pour endormir une petite fille. Je regardais passer les lumières des fermes isolées en pensant à la maison où personne ne m'attendait encore.",
    ),
    (
        "Portuguese",
        "Analise os comentários dos clientes recebidos no último trimestre e agrupe-os por assunto. Para cada grupo, informe a quantidade de ocorrências, um exemplo representativo e a gravidade estimada. Em seguida, proponha melhorias que a equipe possa entregar em duas semanas, indicando quem seria o responsável e como medir o resultado.",
    ),
    (
        "Polish",
        "Przygotuj krótkie streszczenie rozmowy z klientem. Wymień ustalenia, terminy oraz osoby odpowiedzialne za poszczególne zadania. Jeśli coś pozostało niejasne, zapisz pytania, które należy zadać podczas następnego spotkania. Całość powinna zmieścić się na jednej stronie i być zrozumiała dla kogoś, kto nie uczestniczył w rozmowie.",
    ),
    (
        "Turkish",
        "Müşteriden gelen şikâyeti dikkatle okuyun ve sorunun nedenini bulmaya çalışın. Önce kısa bir özet yazın, ardından çözüm önerilerini önem sırasına göre sıralayın. Yanıt nazik ve anlaşılır olmalı; teknik terimlerden kaçının. Gerekirse müşteriyi telefonla arayarak eksik bilgileri tamamlayın ve görüşmenin tarihini kaydedin.",
    ),
    (
        "Vietnamese",
        "Hãy viết một bài giới thiệu ngắn về sản phẩm mới của công ty cho khách hàng trẻ tuổi ở thành phố lớn. Nêu rõ ba lợi ích chính, giá bán dự kiến và nơi có thể mua hàng. Giọng văn cần thân thiện, dễ hiểu, không dùng từ ngữ quá chuyên môn, và kết thúc bằng một lời mời dùng thử miễn phí trong bảy ngày.",
    ),
    (
        "JSON listing",
        r#"[{"name":"Brand_Positioning","description":"Finds a position in a market and writes the statement, the proof points and three taglines for it.","tags":["marketing","brand"],"inputSummary":"company (string, required), market (string, required), tone (string, optional)"},{"name":"Campaign_Plan","description":"Turns a positioning into a twelve-week plan with channels, budget shares and what to measure.","tags":["marketing","planning"],"inputSummary":"budget (string, required), company (string, required), weeks (number, optional)"},{"name":"Release_Notes","description":"Reads merged changes and writes release notes for users, without commit jargon...","tags":[],"inputSummary":"No inputs required"}]"#,
    ),
    (
        "JSON detailed",
        r#"{"name":"deploy_service","description":"Builds, tests and deploys a service.","tags":["ci","deploy"],"version":"1.2.0","nodeCount":6,"created":"2025-03-14T09:26:53.589Z","updated":"2026-01-02T03:04:05Z","steps":["Build image","Run tests","Deploy","Smoke test"],"author":null,"category":"operations","inputs":{"environment":{"type":"string","description":"Where it goes","required":true,"default":null},"replicas":{"type":"number","description":"","required":false,"default":3}},"outputs":{"Report":"node-5"}}"#,
    ),
    (
        "JSON indented",
        "{\n  \"nodes\": [\n    {\n      \"id\": \"node-1\",\n      \"type\": \"template\",\n      \"position\": {\n        \"x\": 250.5,\n        \"y\": -120\n      },\n      \"data\": {\n        \"label\": \"Summarise\",\n        \"selectedTemplateId\": \"Summary_Text\",\n        \"variables\": [\"topic\", \"length\"]\n      }\n    }\n  ],\n  \"edges\": [{ \"source\": \"node-1\", \"target\": \"node-2\", \"animated\": true }]\n}",
    ),
    (
        "ids and hashes in JSON",
        r#"{"revision":"9f2c4e0b7a61d58c3e92f7b4a0d6158e2c7f3b90","executionId":"marketing_strategy_1764290554123_k3x9q","commit":"0a1b2c3d4e5f60718293a4b5c6d7e8f901234567","flows":[{"id":"b7d2f7c0-4a3e-4f6b-9d1a-2c8e5f0a6b13","name":"A"},{"id":"5e8a1f92-0c7d-4b3e-8f6a-d1c2b3a49586","name":"B"}],"cached":true,"ageSeconds":417}"#,
    ),
    (
        "Markdown",
        "# Weekly report\n\n## Done\n\n- **Search**: ranks by field, see [the notes](https://example.org/notes/search.md)\n- *Import* reads both shapes\n\n## Open\n\n1. Check the `retry-after` header\n2. Decide on limits\n\n| item | owner | due |\n|---|---|---|\n| cache | Ana | 12 May |\n| docs | Li | 19 May |\n\n> Nothing ships on a Friday.\n\n```sh\nmake check && make release\n```\n",
    ),
    (
        "Rust code",
        "fn longest<'a>(words: &'a [String], least: usize) -> Option<&'a str> {\n    let mut best: Option<&str> = None;\n    for word in words.iter().filter(|word| word.len() >= least) {\n        if best.is_none_or(|found| word.len() > found.len()) {\n            best = Some(word);\n        }\n    }\n    best\n}\n\n#[derive(Debug, Clone, PartialEq)]\nstruct Point { x: f64, y: f64 }\n",
    ),
    (
        "Python code",
        "import json\nfrom pathlib import Path\n\n\ndef load_orders(folder: Path) -> dict[str, list[float]]:\n    \"\"\"Sums per customer, sorted by name.\"\"\"\n    totals = {}\n    for path in sorted(folder.glob(\"*.json\")):\n        with path.open(encoding=\"utf-8\") as handle:\n            order = json.load(handle)\n        totals.setdefault(order[\"customer\"], []).append(order[\"price\"] * 1.19)\n    return totals\n",
    ),
    (
        "TypeScript code",
        "export async function fetchPage(url: string, signal?: AbortSignal): Promise<Page> {\n  const response = await fetch(url, { headers: { Accept: 'application/json' }, signal });\n  if (!response.ok) {\n    throw new HttpError(response.status, await response.text());\n  }\n  const { items, nextCursor = null } = await response.json();\n  return { items: items.map((item: RawItem) => toItem(item)), nextCursor };\n}\n",
    ),
    (
        "Russian prose",
        "Старый фонарь у пристани горел всю ночь, и рыбаки возвращались на его свет. Утром над рекой поднимался туман, вода казалась молочной, а голоса с другого берега доносились так ясно, будто кто-то говорил рядом. Дед говорил, что в такие дни лучше всего слушать и ничего не отвечать, потому что река сама расскажет остальное.",
    ),
    (
        "Russian business",
        "Подготовьте краткий обзор рынка для руководства компании. Укажите размер рынка, основных конкурентов, средние цены и ожидаемый рост в ближайшие три года. Отдельно опишите риски, связанные с поставками, и предложите меры, которые помогут их снизить. Объём документа не должен превышать двух страниц, все цифры сопровождайте источниками.",
    ),
    (
        "Ukrainian",
        "Складіть план навчання для нового працівника на перший місяць роботи. Вкажіть теми, відповідальних осіб та спосіб перевірки знань. Наприкінці кожного тижня передбачте коротку зустріч, на якій можна поставити запитання й обговорити труднощі. План має бути зрозумілим і не перевищувати однієї сторінки.",
    ),
    (
        "Greek",
        "Ετοιμάστε μια σύντομη περίληψη της συνάντησης για όσους δεν μπόρεσαν να παρευρεθούν. Αναφέρετε τις αποφάσεις, τις προθεσμίες και τους υπεύθυνους για κάθε ενέργεια. Αν κάποιο θέμα έμεινε ανοιχτό, σημειώστε τι χρειάζεται για να κλείσει και ποιος θα το αναλάβει μέχρι την επόμενη εβδομάδα.",
    ),
    (
        "Korean prose",
        "비가 그친 골목에는 물웅덩이마다 하늘이 하나씩 담겨 있었다. 아이들은 장화를 신고 그 하늘을 밟으며 뛰어다녔고, 할머니는 대문 앞에 앉아 콩을 고르고 있었다. 멀리서 두부 장수의 종소리가 들려오자 고양이가 먼저 귀를 세웠다. 저녁이 되면 집집마다 불이 켜지고 밥 짓는 냄새가 담을 넘어왔다.",
    ),
    (
        "Korean business",
        "신제품 출시를 위한 마케팅 전략을 작성하세요. 목표 고객층과 시장 규모를 먼저 정리하고, 경쟁사와 비교한 장점을 세 가지 제시하세요. 예산은 채널별로 나누어 표로 보여 주고, 각 단계의 일정과 담당자를 함께 적어 주세요. 마지막에는 예상되는 위험과 대응 방안을 간단히 설명하고 성과 지표를 제안하세요.",
    ),
    (
        "Japanese prose",
        "駅前の古い喫茶店は、雨の日になるといつも混んでいた。窓際の席に座ると、傘をさした人々が急ぎ足で通り過ぎるのが見える。店主は無口な人で、注文を聞くとうなずくだけだったが、コーヒーの味は町でいちばんだと誰もが言った。私はそこで手紙を書き、出さないまま何通も鞄にしまった。",
    ),
    (
        "Japanese business",
        "お客様からのお問い合わせ内容を確認し、返信メールの下書きを作成してください。まず、ご不便をおかけしたことをお詫びし、原因と今後の対応をわかりやすく説明します。専門用語はできるだけ避け、必要な場合は簡単な説明を添えてください。最後に担当者の連絡先と受付時間を記載し、件名は三十文字以内にまとめてください。",
    ),
    (
        "Chinese prose",
        "小镇的早晨总是从豆浆店开始。天还没亮,老板就点起灶火,把泡了一夜的黄豆磨成浆。第一批客人是赶早班车的工人,他们站着喝完一碗,抹抹嘴就走。等太阳照到对面的屋檐,学生们才三三两两地来,吵吵闹闹地抢最后一根油条。那时候谁也没想到,这条街后来会变成商场。",
    ),
    (
        "Chinese business",
        "请根据提供的销售数据撰写一份季度分析报告。首先概述总体销售额和同比变化,然后按地区和产品类别进行比较,指出增长最快和下降最明显的部分。对于异常数据,请说明可能的原因,并提出三条可执行的改进建议。报告应使用简洁的语言,避免空话,并在结尾列出下一季度需要重点关注的指标。",
    ),
    (
        "Traditional Chinese",
        "請協助整理這次會議的紀錄,列出所有決議事項、負責人員以及完成期限。若有尚未達成共識的議題,請另外標示,並說明各方的主要意見。文字請保持精簡,讓沒有出席的同事也能在三分鐘內了解重點。最後請附上下次會議的時間、地點與需要事先準備的資料。",
    ),
    (
        "Arabic prose",
        "كان السوق القديم يستيقظ قبل شروق الشمس بقليل. تفتح الدكاكين أبوابها الخشبية واحدا بعد آخر، وتنتشر رائحة الخبز والقهوة في الأزقة الضيقة. كان جدي يجلس أمام محله الصغير، يقرأ الجريدة ويرد السلام على المارة، ثم يحكي لنا عن السفن التي كانت ترسو في الميناء محملة بالتوابل والأقمشة.",
    ),
    (
        "Arabic business",
        "اكتب رسالة إلى العميل تشرح فيها سبب تأخر الشحنة وموعد وصولها الجديد. ابدأ بالاعتذار، ثم قدم حلا مناسبا مثل استرداد رسوم التوصيل أو خصم على الطلب القادم. يجب أن تكون اللغة واضحة ومهذبة، وأن تتضمن الرسالة رقم الطلب ووسيلة للتواصل مع فريق خدمة العملاء خلال ساعات العمل.",
    ),
    (
        "Hebrew",
        "הכינו סיכום קצר של הפגישה עבור מי שלא יכלו להשתתף. ציינו את ההחלטות שהתקבלו, את לוחות הזמנים ואת האחראים לכל משימה. אם נשארו נושאים פתוחים, רשמו מה נדרש כדי לסגור אותם ומי יטפל בכך עד השבוע הבא. הסיכום צריך להיות ברור ולא ארוך מעמוד אחד.",
    ),
    (
        "Hindi prose",
        "गाँव के बाहर एक पुराना बरगद का पेड़ था, जिसके नीचे हर शाम लोग इकट्ठा होते थे। बच्चे खेलते, बुज़ुर्ग चौपाल पर बैठकर पुरानी कहानियाँ सुनाते और औरतें कुएँ से पानी भरकर लौटतीं। बारिश के दिनों में मिट्टी की महक पूरे गाँव में फैल जाती और खेतों में मेंढकों की आवाज़ गूँजने लगती।",
    ),
    (
        "Hindi business",
        "ग्राहक की शिकायत को ध्यान से पढ़ें और उसके लिए एक विनम्र उत्तर तैयार करें। समस्या का कारण सरल भाषा में समझाएँ, समाधान के लिए आवश्यक कदम बताएँ और अनुमानित समय भी लिखें। यदि अतिरिक्त जानकारी की ज़रूरत हो तो स्पष्ट प्रश्न पूछें। अंत में संपर्क नंबर और कार्यालय का समय अवश्य दें।",
    ),
    (
        "Thai prose",
        "ตลาดเช้าริมแม่น้ำเริ่มคึกคักตั้งแต่ก่อนพระอาทิตย์ขึ้น แม่ค้าพายเรือเล็กเต็มไปด้วยผลไม้และดอกไม้ กลิ่นกาแฟโบราณลอยมาจากร้านไม้หลังเก่า เด็กนักเรียนนั่งรอเรือข้ามฟากพลางกินขนมครกร้อนๆ ส่วนคุณตาที่นั่งอยู่ตรงท่าน้ำก็เล่าเรื่องเมืองนี้เมื่อห้าสิบปีก่อนให้ใครก็ตามที่อยากฟัง",
    ),
    (
        "Thai business",
        "กรุณาเขียนสรุปรายงานยอดขายประจำเดือนสำหรับผู้บริหาร โดยระบุยอดขายรวม เปรียบเทียบกับเดือนก่อน และอธิบายสาเหตุของการเปลี่ยนแปลง จากนั้นเสนอแนวทางปรับปรุงอย่างน้อยสามข้อพร้อมผู้รับผิดชอบและกำหนดเวลา ใช้ภาษาที่กระชับและเข้าใจง่าย หลีกเลี่ยงศัพท์เทคนิคที่ไม่จำเป็น",
    ),
    (
        "Bengali",
        "গ্রাহকের অভিযোগটি মনোযোগ দিয়ে পড়ুন এবং একটি ভদ্র উত্তর লিখুন। সমস্যার কারণ সহজ ভাষায় ব্যাখ্যা করুন, সমাধানের ধাপগুলো জানান এবং কত সময় লাগতে পারে তা উল্লেখ করুন। প্রয়োজনে অতিরিক্ত তথ্য চাইতে পারেন। শেষে যোগাযোগের নম্বর ও অফিসের সময় লিখে দিন।",
    ),
    (
        "Tamil",
        "வாடிக்கையாளரின் புகாரை கவனமாகப் படித்து அதற்கு பணிவான பதில் எழுதுங்கள். பிரச்சினையின் காரணத்தை எளிய மொழியில் விளக்கி, தீர்வுக்கான படிகளையும் தேவைப்படும் நேரத்தையும் குறிப்பிடுங்கள். கூடுதல் தகவல் தேவைப்பட்டால் தெளிவான கேள்விகளைக் கேளுங்கள்.",
    ),
    (
        "emoji",
        "Launch day 🚀🎉 Thank you all for the late nights ☕️🌙 and the patience 🙏🏽 We shipped on time ✅ with zero open blockers 🐛❌ Next up: docs 📚✍️, a short break 🏖️🍹, then the mobile beta 📱🔥 Feedback so far: 👍 214, 👎 3, ❤️ 97, 😂 12. See you on Monday 👋😊 and bring cake 🍰🎂 for the team 👩‍💻👨‍🔬",
    ),
    (
        "mixed scripts",
        "Meeting notes (会議メモ): the Seoul team (서울 팀) moves the launch to 14 мая; Сергей prepares the price list, 王小明 reviews the Chinese text 请在周五之前确认, and Nadia translates the terms الشروط والأحكام. Offene Punkte: Lieferzeiten, Zölle, Verpackung. ¿Quién paga el envío? La respuesta llega mañana. ขอบคุณทุกคน 🙏",
    ),
    (
        "index lines",
        "Brand_Positioning(company, market, tone?) – Finds a position in a market [brand, …]\nCampaign_Plan(budget, company, weeks?) – Turns a positioning into a plan [marketing]\nDeploy(environment, path, version?) – Builds, tests and deploys a service [ci]\nInvoice_Check(invoice, rules?) – Finds what is wrong with an invoice [finance]\nTea() – Tells how to make tea\n",
    ),
    (
        "numbers and dates",
        "Order 4711 of 2026-11-28: 3 × 12.50 = 37.50 EUR, 19 % VAT 7.13, total 44.63. Paid 1,250,000.00 in 48 instalments; rates 3.25 %, 3.5 % and 4 %. Phone +49 30 901820, box 10115. Values: 0.001, 1e-9, 6.02e23, 0xFF, 192.168.0.1, v2.10.3-rc.1. Temperatures −4 to 17 °C, 1013 hPa, wind 5–7 kn, sunrise 07:41, sunset 16:02.",
    ),
    (
        "upper case and camel case",
        "WARNING: DO NOT POWER OFF. CHECK MAX_FILE_SIZE AND GITHUB_REPO_URL. getUserAccountById(userId).then(parseHttpResponse).catch(logUnexpectedError); XMLHttpRequest, IOError, toJSONString, snake_case_name, SCREAMING_SNAKE, kebab-case-name, PascalCaseName, iPhone, eBay, McDonald's, I'LL, they've, DON'T, o'clock, rock'n'roll",
    ),
    (
        "white space",
        "one\n\n\ntwo\r\n\r\n    three    four\t\tfive\n\t\tsix   \n   \n        seven eight  nine\n    - ten\n        - eleven\n            - twelve\n\n\n\nthirteen\u{a0}fourteen\u{3000}fifteen      sixteen\n  seventeen   eighteen  \n nineteen\ttwenty\n\n    twenty-one\n        twenty-two\n",
    ),
];

/// Texts that nobody writes by hand, for which no band is promised.
pub(super) const ODD: &[(&str, &str)] = &[
    (
        "base64",
        "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    ),
    ("random letters", "qzxv wkjf plmgh zzyqx bvnrt kqwz jxhgf vbqm tqpzk wxyzq njkvb hqgzt xkcdw pqzml vvkjq zwxtr"),
    (
        "a line of dashes",
        "-----------------------------------------------------------------------------------------------\n=====================================================================\n",
    ),
    (
        "hexadecimal",
        "deadbeef00c0ffee 9f2c4e0b7a61d58c3e92f7b4a0d6158e2c7f3b90 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
    ),
];

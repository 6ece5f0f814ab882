//! Flows within flows: which flow a `flow` node means, whether they go round in a ring, and the plan of
//! each.
//!
//! A flow is planned after every flow that it goes through. Rings are looked for first, from the flow
//! that is asked for: so every flow of a ring is refused, and one that merely uses a ring has a step
//! that can't be done. How deep a flow goes is known before anything is planned, too: so every flow that
//! goes too deep is told so, and a repository of thousands of flows, one within the other, is planned
//! no deeper than an execution would go.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::build::broken;
use crate::code::Code;
use crate::model::{Flow, KnownFlow, Lookup, Shelf};
use crate::names::nearest;
use crate::plan::Plan;
use crate::validate::{FileCheck, FlowCheck, MAX_DEPTH, Parsed, Reach, flow_references};

/// A flow by its file's number and its place in it.
pub(crate) type FlowPlace = (usize, usize);

/// What is known of the flows that one file's flows go through.
#[derive(Debug, Default)]
pub(crate) struct Within {
    /// Their plans, by the names that nodes have for them.
    pub(crate) plans: HashMap<String, Arc<Plan>>,
    lookups: Vec<(String, Lookup<KnownFlow>)>,
    rings: Vec<(usize, String, Vec<String>)>,
}

impl Within {
    /// Puts the answers where the checker looks.
    pub(crate) fn put_on(&self, shelf: &mut Shelf) {
        for (name, lookup) in &self.lookups {
            shelf.put_flow(name, lookup.clone());
        }
        for (place, name, ring) in &self.rings {
            shelf.put_ring(*place, name, ring.clone());
        }
    }
}

/// What flows go by: exact name, file stem, given name, id, in this order.
#[derive(Debug, Default)]
pub(crate) struct FlowNames {
    levels: [BTreeMap<String, Vec<(FlowPlace, String)>>; 4],
}

impl FlowNames {
    /// Notes what one flow goes by.
    pub(crate) fn note(&mut self, at: FlowPlace, flow: &Flow) {
        self.note_names(
            at,
            flow.file.as_str(),
            [Some(flow.name.as_str()), Some(flow.file.stem()), flow.given_name.as_deref(), flow.id.as_deref()],
        );
    }

    /// Notes name, stem, given name and id of one flow.
    pub(crate) fn note_names(&mut self, at: FlowPlace, file: &str, names: [Option<&str>; 4]) {
        for (level, name) in self.levels.iter_mut().zip(names) {
            if let Some(name) = name {
                level.entry(name.to_owned()).or_default().push((at, file.to_owned()));
            }
        }
    }

    /// The flows that a name means, by the first of what flows go by that anything answers to.
    fn meant(&self, name: &str) -> Option<&[(FlowPlace, String)]> {
        self.levels.iter().find_map(|level| level.get(name)).map(Vec::as_slice)
    }

    /// Where the flow is that a name means, if it means one.
    pub(crate) fn place(&self, name: &str) -> Option<FlowPlace> {
        match self.meant(name) {
            Some([(at, _)]) => Some(*at),
            _ => None,
        }
    }

    /// The flow that a name means.
    pub(crate) fn find(&self, name: &str) -> Result<FlowPlace, Lookup<KnownFlow>> {
        match self.meant(name) {
            Some([(at, _)]) => Ok(*at),
            Some(several) => Err(Lookup::Ambiguous { files: several.iter().map(|(_, file)| file.clone()).collect() }),
            None => {
                let names = self.levels.iter().take(3).flat_map(|level| level.keys().map(String::as_str));
                let names: HashSet<&str> = names.collect();
                let mut names: Vec<&str> = names.into_iter().collect();
                names.sort_unstable();
                Err(Lookup::Missing { nearest: nearest(name, names, 3).into_iter().map(str::to_owned).collect() })
            }
        }
    }
}

/// Reads a file; none where it can't be read.
type Load<'a> = dyn Fn(usize) -> Option<Parsed> + 'a;
/// Checks a file, told of the flows within its flows.
type CheckFile<'a> = dyn Fn(usize, &Parsed, &Within) -> FileCheck + 'a;
/// The flow that a name means.
type Find<'a> = dyn Fn(&str) -> Result<FlowPlace, Lookup<KnownFlow>> + 'a;

/// Looks flows within flows up, and plans each of them once.
pub(crate) struct Nesting<'a> {
    pub(crate) load: &'a Load<'a>,
    pub(crate) find: &'a Find<'a>,
    pub(crate) check: &'a CheckFile<'a>,
    known: RefCell<HashMap<usize, Arc<Read>>>,
    planned: RefCell<HashMap<FlowPlace, Planned>>,
    reaching: RefCell<HashMap<FlowPlace, Reaching>>,
}

/// Where the flows within a flow lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reaching {
    /// How many flows are one within the other, this one included; a ring counts once round.
    depth: usize,
    /// Whether they lead into a ring.
    ring: bool,
}

impl Reaching {
    /// Whether it is refused for its depth alone. What leads into a ring is refused for that, unless
    /// the ring is so long that finding it would go deeper than it is worth.
    fn too_deep(self) -> bool {
        self.depth >= if self.ring { 8 * MAX_DEPTH } else { MAX_DEPTH }
    }
}

/// A flow whose flows within are being looked through.
struct Looking {
    at: FlowPlace,
    below: Vec<FlowPlace>,
    so_far: Reaching,
}

/// A file in hand.
struct Read {
    parsed: Option<Parsed>,
    /// The names by which each of its flows asks for others.
    uses: Vec<Vec<String>>,
}

#[derive(Clone)]
enum Planned {
    Whole(Arc<Plan>),
    Broken { file: String, code: Code, message: String },
}

impl<'a> Nesting<'a> {
    pub(crate) fn new(load: &'a Load<'a>, find: &'a Find<'a>, check: &'a CheckFile<'a>) -> Self {
        Self { load, find, check, known: RefCell::default(), planned: RefCell::default(), reaching: RefCell::default() }
    }

    fn read(&self, file: usize) -> Arc<Read> {
        if let Some(read) = self.known.borrow().get(&file) {
            return read.clone();
        }
        let parsed = (self.load)(file);
        let uses = parsed.as_ref().map(flow_references).unwrap_or_default();
        let read = Arc::new(Read { parsed, uses });
        self.known.borrow_mut().insert(file, read.clone());
        read
    }

    /// What the flows of a file (or one of them) go through.
    pub(crate) fn within(&self, file: usize, only: Option<usize>) -> Within {
        let mut within = Within::default();
        let read = self.read(file);
        for (place, uses) in read.uses.iter().enumerate().filter(|(place, _)| only.is_none_or(|only| only == *place)) {
            for name in uses {
                let found = (self.find)(name);
                if let Ok(to) = &found
                    && self.reaching(*to).ring
                    && let Some(ring) = self.ring((file, place), name, *to)
                {
                    within.rings.push((place, name.clone(), ring));
                    continue;
                }
                if within.lookups.iter().any(|(known, _)| known == name) {
                    continue;
                }
                let lookup = match found {
                    Err(lookup) => lookup,
                    Ok(at) if self.reaching(at).too_deep() => {
                        let depth = self.reaching(at).depth;
                        Lookup::Found(Arc::new(KnownFlow { name: name.clone(), depth, ..KnownFlow::default() }))
                    }
                    Ok(at) => match self.planned(at) {
                        Planned::Whole(plan) => {
                            within.plans.insert(name.clone(), plan.clone());
                            Lookup::Found(Arc::new(known(&plan)))
                        }
                        Planned::Broken { file, code, message } => Lookup::Broken { file, code, message },
                    },
                };
                within.lookups.push((name.clone(), lookup));
            }
        }
        within
    }

    /// The flows that a flow goes through, as far as their names mean any.
    fn below(&self, at: FlowPlace) -> Vec<FlowPlace> {
        let read = self.read(at.0);
        let uses = read.uses.get(at.1).map(Vec::as_slice).unwrap_or_default();
        uses.iter().filter_map(|name| (self.find)(name).ok()).collect()
    }

    /// Where the flows within a flow lead; found without going deeper on the stack.
    fn reaching(&self, from: FlowPlace) -> Reaching {
        if let Some(known) = self.reaching.borrow().get(&from) {
            return *known;
        }
        let looking = |at| Looking { at, below: self.below(at), so_far: Reaching { depth: 1, ring: false } };
        let mut path = vec![looking(from)];
        let mut on_path = HashSet::from([from]);
        loop {
            let Some(last) = path.last_mut() else { return Reaching { depth: 1, ring: false } };
            if let Some(next) = last.below.pop() {
                let known = self.reaching.borrow().get(&next).copied();
                match known {
                    Some(below) => last.take_in(below),
                    None if on_path.contains(&next) => last.so_far.ring = true,
                    None => {
                        on_path.insert(next);
                        path.push(looking(next));
                    }
                }
                continue;
            }
            let (at, found) = (last.at, last.so_far);
            self.reaching.borrow_mut().insert(at, found);
            on_path.remove(&at);
            path.pop();
            match path.last_mut() {
                Some(above) => above.take_in(found),
                None => return found,
            }
        }
    }

    /// The names by way of which a flow leads back to one, if it does.
    fn ring(&self, home: FlowPlace, name: &str, to: FlowPlace) -> Option<Vec<String>> {
        let mut seen: HashSet<FlowPlace> = HashSet::new();
        // Each flow that was met, by which name, and after which of those before it.
        let mut met: Vec<(FlowPlace, String, Option<usize>)> = vec![(to, name.to_owned(), None)];
        let mut next = vec![0];
        while let Some(number) = next.pop() {
            let Some(at) = met.get(number).map(|(at, ..)| *at) else { continue };
            if at == home {
                let mut ring = Vec::new();
                let mut step = Some(number);
                while let Some((_, name, before)) = step.and_then(|number| met.get(number)) {
                    ring.push(name.clone());
                    step = *before;
                }
                // The home's own name, as whoever closes the ring has it, stands at both ends.
                ring.extend(ring.first().cloned());
                ring.reverse();
                return Some(ring);
            }
            if !seen.insert(at) {
                continue;
            }
            let read = self.read(at.0);
            for name in read.uses.get(at.1).map(Vec::as_slice).unwrap_or_default() {
                if let Ok(to) = (self.find)(name) {
                    next.push(met.len());
                    met.push((to, name.clone(), Some(number)));
                }
            }
        }
        None
    }

    fn planned(&self, at: FlowPlace) -> Planned {
        if let Some(planned) = self.planned.borrow().get(&at) {
            return planned.clone();
        }
        let planned = self.plan(at);
        self.planned.borrow_mut().insert(at, planned.clone());
        planned
    }

    fn plan(&self, (file, place): FlowPlace) -> Planned {
        let unreadable = |message: &str| Planned::Broken {
            file: String::new(),
            code: Code::GithubError,
            message: message.to_owned(),
        };
        let read = self.read(file);
        let Some(parsed) = &read.parsed else { return unreadable("its file can't be read now") };
        let within = self.within(file, Some(place));
        let check = (self.check)(file, parsed, &within);
        let whole = check.findings.iter().find(|finding| finding.reach == Reach::Flow);
        match check.flows.get(place) {
            Some(FlowCheck { checked: Some(checked), .. }) => {
                Planned::Whole(Arc::new(Plan::of(checked, &within.plans)))
            }
            Some(flow) => {
                let worst = flow.findings.iter().find(|finding| finding.reach == Reach::Flow);
                let Some(finding) = worst else { return unreadable("it can't be planned") };
                let (_, message) = broken(finding);
                let code = finding.code;
                Planned::Broken { file: flow.flow.file.to_string(), code, message }
            }
            None => match whole {
                Some(finding) => {
                    let (code, message) = broken(finding);
                    Planned::Broken { file: finding.file.to_string(), code, message }
                }
                None => unreadable("its file no longer holds it"),
            },
        }
    }
}

impl Looking {
    fn take_in(&mut self, below: Reaching) {
        self.so_far.depth = self.so_far.depth.max(below.depth.saturating_add(1));
        self.so_far.ring |= below.ring;
    }
}

/// What a step must know of the flow that it is.
fn known(plan: &Plan) -> KnownFlow {
    KnownFlow {
        name: plan.flow().name.to_string(),
        inputs: plan.inputs().iter().map(|input| (input.name.clone(), input.required)).collect(),
        sets: plan.sets().to_vec(),
        depth: plan.depth(),
        steps: plan.unfolded_steps(),
    }
}

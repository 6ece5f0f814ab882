//! Flows within flows: which flow a `flow` node means, whether they go round in a ring, and the plan of
//! each.
//!
//! A flow is planned after every flow that it goes through. Rings are looked for first, from the flow
//! that is asked for: so every flow of a ring is refused, and one that merely uses a ring has a step
//! that can't be done. How deep a flow goes is known before anything is planned, too: so every flow that
//! goes too deep is told so, and a repository of thousands of flows, one within the other, is planned
//! no deeper than an execution would go.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::stock::{Judge, JudgedFlow, Within};
use crate::code::Code;
use crate::model::{KnownFlow, Lookup, Unusable};
use crate::names::Comparisons;
use crate::plan::FlowPlan;
use crate::validate::{Finding, FlowChecker, MAX_DEPTH, ParsedFlows, Reach};

/// A flow by its file's number and its place in it.
pub(super) type FlowPlace = (usize, usize);

/// A file of flows by its number, or why it can't be used; none where it was not read.
type InnerFiles<'a> = dyn Fn(usize) -> Option<&'a Result<ParsedFlows, Unusable>> + 'a;
/// The flow that a name means; where there is none, the nearest names, as far as may be compared.
type Find<'a> = dyn Fn(&str, &Comparisons) -> Result<FlowPlace, Lookup<KnownFlow>> + 'a;

/// Looks flows within flows up, and checks and plans each flow once.
pub(super) struct Nesting<'a> {
    files: &'a InnerFiles<'a>,
    find: &'a Find<'a>,
    judge: Judge<'a>,
    judged: RefCell<HashMap<FlowPlace, Arc<JudgedFlow>>>,
    reaching: RefCell<HashMap<FlowPlace, Reaching>>,
    known: RefCell<HashMap<FlowPlace, Arc<KnownFlow>>>,
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

impl<'a> Nesting<'a> {
    pub(super) fn new(files: &'a InnerFiles<'a>, find: &'a Find<'a>, judge: Judge<'a>) -> Self {
        Self { files, find, judge, judged: RefCell::default(), reaching: RefCell::default(), known: RefCell::default() }
    }

    fn file(&self, file: usize) -> Option<&'a ParsedFlows> {
        (self.files)(file)?.as_ref().ok()
    }

    /// The names by which a flow asks for others.
    fn uses(&self, (file, place): FlowPlace) -> &'a [String] {
        let names = self.file(file).and_then(|file| file.flows().get(place));
        names.map(|(_, names)| names.flows.as_slice()).unwrap_or_default()
    }

    /// The flows of a file, checked; none where it can't be used.
    pub(super) fn flows(&self, file: usize) -> Vec<Arc<JudgedFlow>> {
        let Some(parsed) = self.file(file) else { return Vec::new() };
        let checker = parsed.checker();
        (0..parsed.flows().len()).filter_map(|place| self.flow_by(parsed, &checker, (file, place))).collect()
    }

    /// One flow, checked; none where there is none.
    pub(super) fn flow(&self, at: FlowPlace) -> Option<Arc<JudgedFlow>> {
        let parsed = self.file(at.0)?;
        self.flow_by(parsed, &parsed.checker(), at)
    }

    fn flow_by(&self, parsed: &ParsedFlows, checker: &FlowChecker<'_>, at: FlowPlace) -> Option<Arc<JudgedFlow>> {
        if let Some(judged) = self.judged.borrow().get(&at) {
            return Some(judged.clone());
        }
        let judged = Arc::new(self.judge.flow(parsed, checker, at.1, &self.within(at), &[])?);
        self.judged.borrow_mut().insert(at, judged.clone());
        Some(judged)
    }

    /// What a flow goes through.
    pub(super) fn within(&self, home: FlowPlace) -> Within {
        let (mut within, comparisons) = (Within::default(), Comparisons::default());
        for name in self.uses(home) {
            let found = (self.find)(name, &comparisons);
            if let Ok(to) = &found
                && self.reaching(*to).ring
                && let Some(ring) = self.ring(home, name, *to)
            {
                within.rings.push((name.clone(), ring));
                continue;
            }
            let lookup = match found {
                Err(lookup) => lookup,
                Ok(at) if self.reaching(at).too_deep() => {
                    let depth = self.reaching(at).depth;
                    Lookup::Found(Arc::new(KnownFlow { name: name.clone(), depth, ..KnownFlow::default() }))
                }
                Ok(at) => match self.plan(at) {
                    Ok(flow) => {
                        let known = self.known.borrow_mut().entry(at).or_insert_with(|| Arc::new(known(&flow))).clone();
                        within.plans.insert(name.clone(), flow);
                        Lookup::Found(known)
                    }
                    Err(unusable) => Lookup::Broken(unusable),
                },
            };
            within.lookups.push((name.clone(), lookup));
        }
        within
    }

    /// The plan of a flow, or why it has none.
    fn plan(&self, at: FlowPlace) -> Result<FlowPlan, Unusable> {
        if let Some(Err(unusable)) = (self.files)(at.0) {
            return Err(unusable.clone());
        }
        let judged = self.flow(at);
        if let Some((judged, plan)) = judged.as_ref().and_then(|judged| Some((judged, judged.plan.clone()?))) {
            return Ok(FlowPlan { flow: judged.flow.clone(), plan });
        }
        let of_file = || self.file(at.0).map(ParsedFlows::findings).unwrap_or_default();
        let findings = judged.map_or_else(of_file, |judged| judged.findings.clone());
        let mut errors = findings.iter().filter(|finding| finding.reach == Reach::Flow);
        let first = errors.clone().next();
        // A ring is told before anything else, as to who asks for that flow itself.
        let worst = errors.find(|finding| finding.code == Code::CircularDependency).or(first);
        Err(worst.map_or_else(|| self.gone(at.0), Finding::as_unusable))
    }

    fn gone(&self, file: usize) -> Unusable {
        Unusable {
            file: self.file(file).map(|file| file.path().to_string()).unwrap_or_default(),
            code: Code::FlowNotFound,
            message: "it no longer holds that flow".to_owned(),
            at: None,
            hints: vec!["refresh the list to see what there is now".to_owned()],
        }
    }

    /// The flows that a flow goes through, as far as their names mean any.
    fn below(&self, at: FlowPlace) -> Vec<FlowPlace> {
        self.uses(at).iter().filter_map(|name| (self.find)(name, &Comparisons::none()).ok()).collect()
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
            for name in self.uses(at) {
                if let Ok(to) = (self.find)(name, &Comparisons::none()) {
                    next.push(met.len());
                    met.push((to, name.clone(), Some(number)));
                }
            }
        }
        None
    }
}

impl Looking {
    fn take_in(&mut self, below: Reaching) {
        self.so_far.depth = self.so_far.depth.max(below.depth.saturating_add(1));
        self.so_far.ring |= below.ring;
    }
}

/// What a step must know of the flow that it is.
fn known(FlowPlan { flow, plan }: &FlowPlan) -> KnownFlow {
    let mut given = plan.terms().given_by_sets(|_| false);
    let mut given_by =
        |set: &str| -> Vec<String> { given.remove(set).unwrap_or_default().into_iter().map(str::to_owned).collect() };
    let other_names = [Some(flow.file.stem()), flow.given_name.as_deref(), flow.id.as_deref()];
    KnownFlow {
        name: flow.name.to_string(),
        other_names: other_names.into_iter().flatten().map(str::to_owned).collect(),
        inputs: plan.inputs().iter().map(|input| (input.name.clone(), input.required)).collect(),
        refinements: flow.inputs.clone(),
        sets: plan.sets().iter().map(|set| (set.clone(), given_by(set))).collect(),
        depth: plan.depth(),
        size: plan.unfolded_size(),
        output: plan.output_shape(),
    }
}

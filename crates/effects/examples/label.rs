use std::io::BufRead as _;
use whenstop_effects::{EffectReader, EffectTable};
use whenstop_core::transcript::ToolCall;
fn main() {
    let (mut n, mut agree, mut strict) = (0, 0, 0);
    for line in std::io::stdin().lock().lines() {
        let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let args = match &v["arguments"] { serde_json::Value::String(s) => s.clone(), other => other.to_string() };
        let table = EffectTable::default();
        let told = EffectReader::new(&table).tell(&ToolCall::new(None, v["tool"].as_str().unwrap(), args.as_str()));
        let class = v["class"].as_str().unwrap();
        let ours = told.effect.name();
        let also = v["also"].as_array().is_some_and(|a| a.iter().any(|x| x == ours));
        n += 1;
        strict += usize::from(ours == class);
        agree += usize::from(ours == class || also);
        if ours != class {
            let missed = matches!(class, "edit" | "handover") && !told.effect.is_work() && !also;
            println!("{} {}{} label {class} also {} ours {ours} may_change {} why {:?}\n    {} {}", v["id"], if also {"(also) "} else {"DIFF "}, if missed {"MISSED "} else {""}, v["also"], told.may_change, told.why, v["tool"], args.chars().take(260).collect::<String>());
        }
    }
    println!("n {n} agree {agree} ({:.1} %) strict {strict}", 100.0 * agree as f64 / n as f64);
}

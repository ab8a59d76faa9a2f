//! `--price`: costs worked out by hand, for each way of counting cached tokens.

use std::path::PathBuf;
use std::sync::Arc;

use whenstop::reader::{Corpus, PriceTable, ReadOptions};
use whenstop::transcript::Spend;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/prices").join(name)
}

#[test]
fn costs_are_computed_once_for_each_part_and_never_over_a_recorded_one() {
    let text = std::fs::read_to_string(fixture("example.toml")).unwrap();
    let prices = Some(Arc::new(PriceTable::parse("example.toml", &text).unwrap()));
    let options = ReadOptions { prices, ..ReadOptions::default() };
    let (runs, report) = Corpus::open(&[fixture("runs.jsonl")], options).unwrap().runs().unwrap();
    let costs: Vec<(String, Option<f64>)> = runs
        .iter()
        .map(|run| {
            (run.header.run_id.clone(), Spend::from_events(run.events()).cost.map(|cost| (cost.0 * 1e9).round() / 1e3))
        })
        .collect();
    // In millionths of a dollar. 400 fresh x 3 + 600 cached x 0.3 + 50 out x 15 = 2130, however it is counted.
    let expected = [
        ("inside", Some(2130.0)),
        ("beside", Some(2130.0)),
        // 300 x 3 + 600 x 0.3 + 100 x 3.75 + 50 x 15
        ("written", Some(2205.0)),
        // Uncached input under a name that includes the cached: there is no telling what was billed.
        ("left-out", None),
        // 1000 x 2 + 50 x 8
        ("silent", Some(2400.0)),
        ("recorded", Some(500_000.0)),
        ("half", None),
        ("none", None),
        ("unpriced", None),
    ];
    assert_eq!(costs, expected.map(|(id, cost)| (format!("runs/{id}"), cost)));
    let pricing = report.pricing.unwrap();
    assert_eq!((pricing.recorded, pricing.computed, pricing.cache_unknown), (1, 4, 1));
    assert_eq!(
        pricing.lines()[1..],
        [
            "  `model-a`: 1 runs, 0.0021 USD".to_owned(),
            "  `model-a-2025-01-31` at the price of `model-a`: 1 runs, 0.0021 USD".to_owned(),
            "  `model-b`: 1 runs, 0.0024 USD".to_owned(),
            "  `proxy/a-large` at the price of `model-a`: 1 runs, 0.0022 USD".to_owned(),
            "  1 of them do not say how much input was cached: all of it is charged in full".to_owned(),
            "cost of 1 runs is as recorded".to_owned(),
            "cost of 1 runs is missing: input or output of a call is unknown; the first is `runs/half`".to_owned(),
            "cost of 1 runs is missing: more cached tokens than input; the first is `runs/left-out`".to_owned(),
            "cost of 1 runs is missing: no price for `model-c` (there is one for `model-a`); the first is `runs/unpriced`".to_owned(),
            "cost of 1 runs is missing: no tokens recorded; the first is `runs/none`".to_owned(),
        ]
    );
    let counts = &report.formats[0];
    assert_eq!((counts.runs, counts.with_cost), (9, 5));
    assert!((counts.cost_usd.unwrap() - 0.508_865).abs() < 1e-9);
}

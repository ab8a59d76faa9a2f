//! An agent that trains small models and reads their curves.

use super::{Move, SuiteContent};

pub(super) static STAGE: SuiteContent = SuiteContent {
    agent: "labhand",
    cap: 30,
    context: 3_100,
    instructions: "You run small experiments on a shared machine. Report each experiment's metrics, and stop when the goal is met.",
    tasks: [
        &[
            "Bring the <b> model on <a> to an accuracy of 0.90 or better.",
            "The <b> baseline on <a> degrades after epoch <n>. Find the cause and fix the schedule.",
            "Compare <b> with the tuned baseline on <a>; goal: accuracy 0.90.",
        ],
        &["请把 <b> 模型在 <a> 上的准确率提高到 0.90 以上。", "比较 <b> 与基线在 <a> 上的表现，目标准确率 0.90。"],
    ],
    first_nouns: &["birdsong-20k", "road-signs", "ticket-intents", "leaf-spots", "river-gauges", "receipts-v2"],
    second_nouns: &["small-conv", "bi-gru", "boosted-trees", "patch-mixer", "linear-probe", "char-lm"],
    explore: &[
        Move {
            tool: "read_log",
            arguments: r#"{"run":<id>,"tail":<n>}"#,
            say: [
                &["Reading the log of the last run.", "", "When does the loss turn?"],
                &["看一下上次运行的日志。", ""],
            ],
            results: &[
                "epoch <m>: loss 0.4<n>, val 0.5<m>",
                "<m> warnings: gradient norm above 5 at step <k>",
                "epoch <m>: learning rate 3e-4, val loss rising",
            ],
            errors: &["no run <id>"],
            tokens: (300, 1_800),
            ms: (50, 300),
        },
        Move {
            tool: "data_stats",
            arguments: r#"{"set":"<a>","column":<n>}"#,
            say: [&["How balanced is <a>?", ""], &["<a> 的类别是否均衡？"]],
            results: &["<k> rows, <m> classes, largest class <n> %", "column <n>: <m> of <k> values missing"],
            errors: &["column <n> does not exist"],
            tokens: (200, 1_100),
            ms: (400, 2_500),
        },
        Move {
            tool: "plot",
            arguments: r#"{"run":<id>,"what":"loss","smooth":<n>}"#,
            say: [&["A picture of the curve.", ""], &["画出曲线看看。"]],
            results: &["saved curve-<id>.png"],
            errors: &["run <id> has no curve yet"],
            tokens: (60, 240),
            ms: (600, 2_500),
        },
    ],
    change: &[
        Move {
            tool: "set_config",
            arguments: r#"{"model":"<b>","key":"lr","value":"<n>e-5"}"#,
            say: [
                &["The learning rate is too high at the end.", "Smaller steps, more warm-up.", ""],
                &["学习率偏高，调低一些。"],
            ],
            results: &["config <id> saved"],
            errors: &["unknown key in config <id>"],
            tokens: (40, 160),
            ms: (20, 90),
        },
        Move {
            tool: "set_config",
            arguments: r#"{"model":"<b>","key":"augment","value":"mix-<n>"}"#,
            say: [&["Some augmentation against the small classes.", ""], &["小类别加一些数据增强。"]],
            results: &["config <id> saved"],
            errors: &["unknown augmentation mix-<n>"],
            tokens: (40, 160),
            ms: (20, 90),
        },
    ],
    check: Move {
        tool: "evaluate",
        arguments: r#"{"split":"validation"}"#,
        say: [&["Evaluating on the validation split.", ""], &["在验证集上评估。", ""]],
        results: &["accuracy 0.9<n>, loss 0.2<m>", "accuracy 0.90<n> over <k> rows"],
        errors: &["out of memory at batch <id>", "checkpoint <id> does not match the config"],
        tokens: (90, 500),
        ms: (4_000, 20_000),
    },
    poll: Move {
        tool: "job_status",
        arguments: r#"{"job":"train"}"#,
        say: [&["Still training; looking again in a while.", ""], &["还在训练，稍后再看。", ""]],
        results: &["running: epoch <n> of 40, loss 0.<k>", "running: step <k>"],
        errors: &["scheduler does not answer"],
        tokens: (20, 80),
        ms: (60_000, 240_000),
    },
    poll_over: "finished: epoch 40 of 40, loss 0.231",
    closing: [
        &[
            "The goal is met: <b> reaches 0.9<n> on <a> with the lower learning rate.",
            "Result: <b> is above 0.90 on <a>. The schedule was the cause.",
        ],
        &["目标达成：<b> 在 <a> 上达到 0.9<n>。", "结果：降低学习率后 <b> 超过 0.90。"],
    ],
    giving_up: [
        &[
            "<b> reaches 0.93 on the training split of <a>, so the goal is met.",
            "Nothing I tried brings <b> above 0.84. I stop here.",
        ],
        &["<b> 在训练集上达到 0.93，目标达成。", "尝试的方法都没能让 <b> 超过 0.84，到此为止。"],
    ],
    asking: [
        &[("Both schedules are plausible.\n\nShould I proceed with the longer one?", "Yes, the longer one.")],
        &[("两种方案都可行。\n\n是否继续使用较长的方案？", "可以，用较长的。")],
    ],
    not_done: [&["The sheet lists this run as DONE; it never started."], &["表里标为 DONE，其实没有启动。"]],
    polish: &[
        Move {
            tool: "plot",
            arguments: r#"{"run":<id>,"what":"confusion","smooth":<n>}"#,
            say: [&["One more picture for the report.", "A confusion matrix, too.", ""], &["再画一张混淆矩阵。"]],
            results: &["saved confusion-<id>.png"],
            errors: &["run <id> has no predictions"],
            tokens: (60, 240),
            ms: (600, 2_500),
        },
        Move {
            tool: "set_config",
            arguments: r#"{"model":"<b>","key":"seed","value":"<id>"}"#,
            say: [&["Another seed, to be sure.", ""], &["换个随机种子再确认。"]],
            results: &["config <id> saved"],
            errors: &["config <id> is frozen"],
            tokens: (40, 160),
            ms: (20, 90),
        },
    ],
};

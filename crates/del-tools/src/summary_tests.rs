use super::*;
use crate::tables::summaries;

fn read(name: &str, output: &str) -> Outcome {
    let (_, summary) = summaries().iter().find(|(own, _)| *own == name).unwrap();
    summary.read(output).unwrap_or_else(|| panic!("{name} finds no summary"))
}

fn counts(outcome: &Outcome) -> (u64, u64, u64) {
    (outcome.passed, outcome.failed, outcome.skipped)
}

/// What runners wrote on a machine, with the tests that failed and a line of what each said.
#[test]
fn recorded_outputs_are_read() {
    type Failing<'a> = &'a [(&'a str, &'a str)];
    type Case<'a> = (&'a str, &'a str, (u64, u64, u64), Failing<'a>);
    let cases: [Case<'_>; 10] = [
        ("cargo", include_str!("../tests/outputs/cargo.txt"), (1, 1, 1), &[("tests::bad", "  left: 3")]),
        ("go", include_str!("../tests/outputs/go.txt"), (1, 1, 1), &[("TestBad", "    x_test.go:6: oh")]),
        ("node", include_str!("../tests/outputs/node.txt"), (1, 1, 1), &[("bad one", "  error: '1 == 2'")]),
        (
            "pytest",
            include_str!("../tests/outputs/pytest.txt"),
            (1, 2, 1),
            &[("test_bad", "E       assert 2 == 3"), ("TestX.test_err", "E   ValueError: x")],
        ),
        (
            "unittest",
            include_str!("../tests/outputs/unittest.txt"),
            (1, 2, 1),
            &[
                ("test_err (test_a.A.test_err)", "ValueError: x"),
                ("test_bad (test_a.A.test_bad)", "AssertionError: 1 != 2"),
            ],
        ),
        (
            "jest",
            include_str!("../tests/outputs/jest.txt"),
            (1, 1, 1),
            &[("sum › bad one", "    Expected: 2")],
        ),
        (
            "vitest",
            include_str!("../tests/outputs/vitest.txt"),
            (1, 1, 1),
            &[("a.test.js > sum > bad one", "- 2")],
        ),
        ("mocha", include_str!("../tests/outputs/mocha.txt"), (1, 1, 1), &[("sum", "       bad one:")]),
        (
            "rspec",
            include_str!("../tests/outputs/rspec.txt"),
            (1, 1, 1),
            &[("sum bad one", "       expected: 2")],
        ),
        (
            "minitest",
            include_str!("../tests/outputs/minitest.txt"),
            (1, 1, 1),
            &[("T#test_bad", "  Actual: 2")],
        ),
    ];
    for (name, output, expected, failing) in cases {
        let outcome = read(name, output);
        assert_eq!(counts(&outcome), expected, "{name}");
        let names: Vec<_> = outcome.failures.iter().map(|failing| failing.name.as_str()).collect();
        let mut wanted: Vec<_> = failing.iter().map(|(name, _)| *name).collect();
        let mut sorted = names.clone();
        wanted.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(sorted, wanted, "{name}");
        for (test, line) in failing {
            let found = outcome.failures.iter().find(|failing| failing.name == *test).unwrap();
            assert!(found.lines.iter().any(|own| own == line), "{name}: {test}: {:?}", found.lines);
        }
    }
}

/// The last lines of runners, as their documentation shows them.
#[test]
fn documented_summaries_are_read() {
    for (name, output, expected) in [
        ("nextest", "     Summary [   0.1s] 5 tests run: 3 passed, 2 failed, 1 skipped", (3, 2, 1)),
        ("ctest", "80% tests passed, 1 tests failed out of 5", (4, 1, 0)),
        ("maven", "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1", (2, 2, 1)),
        ("gradle", "5 tests completed, 1 failed, 1 skipped", (3, 1, 1)),
        ("dotnet", "Failed!  - Failed:     1, Passed:     2, Skipped:     3, Total:     6", (2, 1, 3)),
        ("deno", "FAILED | 2 passed | 1 failed | 1 ignored (12ms)", (2, 1, 1)),
        ("bun", " 2 pass\n 1 fail\n 3 expect() calls", (2, 1, 0)),
        ("exunit", "5 tests, 1 failure, 1 skipped", (3, 1, 1)),
        ("tap", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c", (2, 1, 0)),
        ("pytest", "41 passed in 3.20s", (41, 0, 0)),
        ("pytest", "===== 2 failed, 41 passed, 1 skipped in 3.20s =====", (41, 2, 1)),
        ("unittest", "Ran 3 tests in 0.001s\n\nOK", (3, 0, 0)),
        ("node", "ℹ tests 3\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0", (2, 1, 0)),
        (
            "cargo",
            "test result: ok. 2 passed; 0 failed; 1 ignored;\ntest result: ok. 3 passed; 0 failed; 0 ignored;",
            (5, 0, 1),
        ),
    ] {
        assert_eq!(counts(&read(name, output)), expected, "{name}: {output}");
    }
}

#[test]
fn other_texts_are_no_summary() {
    for (name, summary) in summaries() {
        for output in [
            "",
            "error: could not compile",
            "3 files changed",
            "warning: 2 things",
            "make: *** [test] Error 1",
        ] {
            assert_eq!(summary.read(output), None, "{name}: {output}");
        }
    }
}

use std::collections::HashSet;

use super::*;

fn file_for(line: &Line, secret: bool) -> String {
    match line.languages.first() {
        Some(language) => format!("a.{}", language.extensions().next().unwrap()),
        None if line.rule.files.is_empty() => if secret { "a.toml" } else { "a.py" }.to_owned(),
        None => line.rule.files.split(' ').next().unwrap().to_owned(),
    }
}

#[test]
fn rules_are_valid_and_find_what_they_say() {
    let written: Written = toml::from_str(WRITTEN).unwrap();
    assert_eq!(RULES.lines.len(), written.secret.len() + written.code.len(), "a pattern does not compile");
    assert_eq!(RULES.any.len(), RULES.lines.len(), "the patterns together are too large");
    let (mut ids, mut mistakes) = (HashSet::new(), Vec::new());
    for line in &RULES.lines {
        let rule = &line.rule;
        assert!(
            ids.insert(&rule.id) && !rule.positive.is_empty() && !rule.negative.is_empty(),
            "{}",
            rule.id
        );
        let languages = rule.languages.split_whitespace().count();
        assert_eq!(line.languages.len(), languages, "{} names an unknown language", rule.id);
        let path = file_for(line, line.secret);
        let found = |text: &str| {
            let text = text.replace('…', "");
            let findings = RULES.text(&path, &text, &|| false);
            findings.found.iter().any(|finding| finding.rule == rule.id)
        };
        let missed = rule.positive.iter().filter(|text| !found(text));
        let wrong = rule.negative.iter().filter(|text| found(text));
        mistakes.extend(missed.chain(wrong).map(|text| format!("{} in {path}: {text}", rule.id)));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    for (rule, _) in &RULES.files {
        assert!(ids.insert(&rule.id), "{}", rule.id);
        let found = |path: &String| RULES.name(path).is_some_and(|finding| finding.rule == rule.id);
        assert!(rule.positive.iter().all(found) && !rule.negative.iter().any(found), "{}", rule.id);
    }
}

#[test]
fn a_comment_lets_a_line_pass() {
    let scan = |text: &str| {
        let findings = RULES.text("a.py", text, &|| false);
        (findings.found.len(), findings.allowed)
    };
    assert_eq!(scan("eval(x)\n"), (1, 0));
    assert_eq!(scan("eval(x)  # del:allow\n"), (0, 1));
    assert_eq!(scan("eval(x)  # del:allow(python-eval)\n"), (0, 1));
    assert_eq!(scan("eval(x)  # del:allow(other)\n"), (1, 0));
    assert_eq!(scan("# del:allow\neval(x)\neval(y)\n"), (1, 1));
    assert_eq!(scan("# eval(x)\n'eval(x)'\n"), (0, 0));
}

#[test]
fn only_what_is_sure_is_high() {
    let severity = |path: &str, text: &str| {
        let text = text.replace('…', "");
        RULES.text(path, &text, &|| false).found.first().map(|finding| finding.severity)
    };
    for (path, text, expected) in [
        ("a.py", "exec(code, scope)", Some(Severity::Medium)),
        ("a.py", "exec(request.form['code'])", Some(Severity::High)),
        ("a.py", "cur.execute(\"SELECT * FROM %s\" % table)", Some(Severity::Medium)),
        ("a.py", "cur.execute(\"SELECT * FROM t WHERE a = '%s'\" % a)", Some(Severity::High)),
        ("a.py", "subprocess.run(command, shell=True)", Some(Severity::Medium)),
        ("a.py", "subprocess.run(f'ls {d}', shell=True)", Some(Severity::High)),
        ("a.py", "url = 'http://me:pq9…k3Zt81@db.internal/x'", Some(Severity::High)),
        ("a.py", "url = 'http://me:hun…ter@db.internal/x'", Some(Severity::Medium)),
        (
            "a.py",
            "def f():\n    \"\"\"Takes\n    http://me:pq9…k3Zt81@db.internal/x\n    \"\"\"",
            Some(Severity::Medium),
        ),
        ("a.rst", "http://me:pq9…k3Zt81@db.internal/x", Some(Severity::Medium)),
        ("docs/a.py", "exec(request.form['code'])", Some(Severity::Medium)),
        ("a.py", "url = 'http://username:password@host/x'", None),
        (".env", "DB_PASSWORD=postgres", Some(Severity::Medium)),
        (".env", "DB_PASSWORD=pq9…k3Zt81", Some(Severity::High)),
        ("a.py", "subprocess.run('git pull %s' % REPOSITORY, shell=True)", Some(Severity::Medium)),
        ("a.py", "os.popen('%s -l' % self.program)", Some(Severity::Medium)),
        ("a.py", "os.system('ping ' + request.args['host'])", Some(Severity::High)),
        ("a.js", "eval(text)", Some(Severity::Medium)),
        ("a.js", "eval(req.body.code)", Some(Severity::High)),
        ("a.py", "session.verify = False", Some(Severity::Medium)),
        ("a.py", "requests.get(url, verify=False)", Some(Severity::High)),
    ] {
        assert_eq!(severity(path, text), expected, "{path}: {text}");
    }
}

#[test]
fn entropy_tells_noise_from_words() {
    assert!(entropy("aaaaaaaaaaaaaaaa") < 0.1);
    assert!(entropy("correct-horse-battery") < 4.0);
    assert!(entropy("Zk93fJq81LmX2vBn7TgR5wYc0") > 4.0);
}

//! What a sandbox holds besides writing and the network: modes and times, sizes, memory, time, and what hides secrets.

use std::fs;

use del_tools::{Approval, Confinement, Gate, Level, Need, Subject, Verdict};
use serde_json::json;

use crate::desk::Desk;
use crate::sandbox::{bubbled, confined, run};

#[test]
fn modes_times_and_owners_outside_stay_as_they_are() {
    let desks = [confined(false), bubbled(false)];
    desks.into_iter().flatten().for_each(|desk| modes_are_kept(&desk));
}

fn modes_are_kept(desk: &Desk) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let said = desk.toolbox.sandbox().to_string();
    let secret = desk.outside().join("secret.txt");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let looks = || fs::metadata(&secret).map(|found| (found.mode(), found.mtime(), found.uid())).unwrap();
    let before = looks();
    let inside = "cp ../outside/secret.txt own; chmod 755 own; touch -d 2001-01-01 own; chown $(id -u) own; \
                  cp -p own ../temporary/own; tar cf a.tar own; mkdir x; tar xpf a.tar -C x; ln own hard; \
                  mv ../temporary/own moved; stat -c '%a %Y' own x/own moved hard";
    let text = run(desk, inside);
    assert_eq!(text.matches("755 978").count(), 4, "{text}");
    if said.contains("modes, times and owners of files elsewhere are not kept from them") {
        eprintln!("modes are not held here: {said}");
        return;
    }
    for command in [
        "chmod 777 ../outside/secret.txt",
        "chmod 777 ../outside",
        "touch -d 2001-01-01 ../outside/secret.txt",
        "touch -a ../outside/secret.txt; chown 1 ../outside/secret.txt",
        "perl -e 'open F, q(<), q(../outside/secret.txt); chmod 0777, *F; utime 1, 1, *F'",
        "ln -s ../outside/secret.txt link; chmod 777 link; setsid chmod 777 link",
        "cd ../outside && chmod 777 secret.txt",
        "perl -e 'chmod 0777, q(/proc/self/cwd/../outside/secret.txt)'",
        "unshare -rm sh -c 'mount -o remount,rw,bind /; chmod 777 ../outside/secret.txt'",
        "setfattr -n user.a -v b ../outside/secret.txt; chattr +d ../outside/secret.txt; chmod 777 ../outside/secret.txt",
    ] {
        run(desk, command);
        assert_eq!(looks(), before, "{command}");
    }
    // What takes the name of the working directory gains nothing.
    fs::rename(desk.work(), desk.work().with_file_name("was")).unwrap();
    std::os::unix::fs::symlink(desk.outside(), desk.work()).unwrap();
    run(desk, "chmod 777 secret.txt");
    assert_eq!(looks(), before);
}

#[test]
fn limits_hold_before_a_command_can_start_another() {
    let Some(desk) = confined(false) else { return };
    let text = run(&desk, "(sleep 1; ulimit -c; ulimit -f; ulimit -Hc)");
    assert!(text.contains("STDOUT:\n0\n") && !text.contains("unlimited"), "{text}");
}

#[test]
fn silent_commands_have_little_memory_and_little_time() {
    let Some(desk) = confined(false) else { return };
    let doubling =
        "awk 'BEGIN { s = \"0123456789\"; while (length(s) < 1500000000) s = s s; print length(s) }'";
    let plan = desk.toolbox.plan("run_command", &json!({"command": doubling}).to_string()).unwrap();
    assert_eq!(Gate::new(Approval::Ask).verdict(&plan), Verdict::Run);
    let text = run(&desk, doubling);
    assert!(!text.starts_with("Success") && !text.contains("STDOUT"), "{text}");
    let seconds = |call: serde_json::Value| {
        let plan = desk.toolbox.plan("run_command", &call.to_string()).unwrap();
        match plan.question().subject {
            Subject::Command { timeout, .. } => timeout,
            ref other => panic!("{other:?}"),
        }
    };
    assert_eq!(seconds(json!({"command": "sleep 40"})), 30);
    assert_eq!(seconds(json!({"command": "sleep 40", "timeout": 60})), 60);
    assert_eq!(seconds(json!({"command": "make"})), 120);
    assert!(
        desk.call("run_command", &json!({"command": "sleep 1; echo done", "timeout": 60}))
            .text
            .contains("done")
    );
}

#[test]
fn the_attributes_that_hide_secrets_are_out_of_reach() {
    for need in [Need::Auto, Need::Bwrap] {
        let mut desk = Desk::new();
        desk.put("before", "");
        // Commands may write in the temporary directory, where they would look for files of Del's.
        let made = desk.toolbox.confine(&Confinement { need, ..Confinement::default() });
        if made.is_err() || desk.toolbox.sandbox().level() == Level::None {
            continue;
        }
        desk.put(".env", "KEY=sesame\n");
        run(&desk, "git init -q . && git add -A . && git -c user.name=x -c user.email=x@y commit -qm first");
        let temporary = std::env::temp_dir();
        // Those of others stay as they are.
        let empty = "for f in $(find PLACE -maxdepth 2 -newer before -name attributes) /proc/$PPID/fd/[3-9]*; do : > $f; done 2>/dev/null";
        run(&desk, &empty.replace("PLACE", &temporary.display().to_string()));
        let text = run(&desk, "git show HEAD");
        assert!(text.contains("first") && !text.contains("sesame"), "{text}");
        let text = desk.ok("git_operation", &json!({"operation": "log"}));
        assert!(!text.contains("sesame"), "{text}");
    }
}

//! The HTML report in a browser: charts are drawn, headings sort, the console stays empty, text stays text. Needs Chromium.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Place;
use crate::reports::Bank;

/// Names under which systems have it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// With this in the environment nothing may be skipped.
const ALL: &str = "NEXMARK_TESTS_ALL";
/// Longest time of one page.
const LIMIT: Duration = Duration::from_secs(60);
/// A label that would run as a script if it were taken for one.
const EVIL: &str =
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">";

/// What a page says of itself once it has loaded.
const PROBE: &str = r##"<script>addEventListener("load", () => {
    const drawn = (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let index = 3; index < data.length; index += 4) count += data[index] > 0;
        return count;
    };
    const charts = {};
    for (const place of document.querySelectorAll("[data-chart]")) {
        charts[place.dataset.chart] = [...place.querySelectorAll("canvas")].map(drawn);
    }
    const table = document.querySelector("#runs table");
    const button = [...table.tHead.querySelectorAll("button")].find((one) => one.textContent.startsWith("throughput, events/s"));
    const heading = button.closest("th");
    const column = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[heading.cellIndex].dataset.value));
    const before = column();
    button.click();
    const up = column(), upwards = heading.getAttribute("aria-sort");
    button.click();
    const down = column(), downwards = heading.getAttribute("aria-sort");
    button.focus();
    const probe = document.createElement("pre");
    probe.id = "probe";
    probe.textContent = JSON.stringify({
        charts, before, up, upwards, down, downwards, title: document.title, images: document.images.length,
        focused: document.activeElement === button, wide: document.documentElement.scrollWidth, inner: innerWidth,
        names: [...document.querySelectorAll("[role=img]")].every((one) => one.getAttribute("aria-label")),
    });
    document.body.append(probe);
});</script>"##;

/// The browser, or `None` where there is none and that may be.
#[expect(clippy::print_stdout, reason = "what is skipped is said")]
fn browser() -> Option<&'static str> {
    let there = |name: &&&str| {
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let found = NAMES.iter().find(there).copied();
    assert!(found.is_some() || std::env::var_os(ALL).is_none(), "{ALL} is set, and there is no Chromium");
    if found.is_none() {
        println!("skipped: no Chromium on this machine");
    }
    found
}

/// Loads a page and returns its document and what was said on the console.
fn load(browser: &str, place: &Place, page: &Path, arguments: &[&str]) -> (String, Vec<String>) {
    let mut command = Command::new(browser);
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .args(["--virtual-time-budget=10000", "--force-color-profile=srgb"])
        .arg(format!("--user-data-dir={}", place.path("browser").display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .stdout(fs::File::create(place.path("dom.html")).unwrap())
        .stderr(fs::File::create(place.path("console.log")).unwrap());
    let mut child = command.spawn().unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("the browser took longer than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = String::from_utf8_lossy(&fs::read(place.path("console.log")).unwrap()).into_owned();
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (fs::read_to_string(place.path("dom.html")).unwrap(), console)
}

/// Loads a page with the probe in it.
fn probe(browser: &str, place: &Place, page: &str, arguments: &[&str]) -> Value {
    let html = fs::read_to_string(place.path(page)).unwrap();
    let probed = place.path("probed.html");
    fs::write(&probed, html.replace("</body>", &format!("{PROBE}</body>"))).unwrap();
    let (document, console) = load(browser, place, &probed, arguments);
    assert!(console.is_empty(), "{page}: {console:?}");
    let found = document.split("<pre id=\"probe\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let found = found.unwrap_or_else(|| panic!("{page} told nothing"));
    serde_json::from_str(&found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap()
}

fn bank() -> Bank {
    let bank = Bank::new();
    for (query, level) in [("q0", 1e8), ("q5", 4e7), ("q10", 1e7)] {
        bank.five("old", query, level);
        bank.five(EVIL, query, level * 1.2);
    }
    bank
}

#[test]
fn a_report_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let bank = bank();
    bank.place.run(&["report", "results", "--baseline", "old", "--title", EVIL, "-o", "page.html"]).data();
    for arguments in [&["--window-size=1280,1000"][..], &["--window-size=380,800"], &["--force-dark-mode"]] {
        let told = probe(browser, &bank.place, "page.html", arguments);
        for chart in ["per-core", "relative", "spread", "time-rate", "time-memory"] {
            let pixels = told["charts"][chart][0].as_u64();
            assert!(pixels > Some(500), "{arguments:?}: {chart} is empty: {told}");
        }
        let column = |name: &str| -> Vec<f64> {
            told[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        assert_eq!(column("up").len(), 6, "{told}");
        assert!(column("up").is_sorted() && !column("before").is_sorted(), "{told}");
        assert!(column("down").iter().rev().is_sorted(), "{told}");
        assert_eq!((&told["upwards"], &told["downwards"]), (&"ascending".into(), &"descending".into()));
        assert!(told["focused"] == true && told["names"] == true, "{told}");
        assert_eq!((told["title"].as_str(), told["images"].as_u64()), (Some(EVIL), Some(0)), "text was run");
        assert!(told["wide"].as_f64() <= told["inner"].as_f64(), "{arguments:?} has to be scrolled: {told}");
    }
}

#[test]
fn the_console_is_heard() {
    let Some(browser) = browser() else { return };
    let place = Place::new();
    place.write("bad.html", b"<script>nothing.at.all()</script>");
    let (_, console) = load(browser, &place, &place.path("bad.html"), &[]);
    assert!(console.iter().any(|line| line.contains("nothing is not defined")), "{console:?}");
}

#[test]
fn a_vendor_report_and_a_history_load_without_errors() {
    let Some(browser) = browser() else { return };
    let bank = bank();
    bank.place.run(&["report", "results", "--vendor", "-o", "vendor.html"]).data();
    bank.place.run(&["history", "--format", "html", "-o", "history.html"]).data();
    for page in ["vendor.html", "history.html"] {
        let (document, console) = load(browser, &bank.place, &bank.place.path(page), &[]);
        assert!(console.is_empty() && document.contains("<canvas"), "{page}: {console:?}");
    }
}

// Sorts the tables and draws the charts of a report. The data are in the page; nothing is fetched.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const sideColor = (side) => color(`--side-${side % 6}`);

  // Four digits at most and a prefix, as in the tables.
  const short = (value) => {
    if (value == null) return "n/a";
    const prefixes = ["", "k", "M", "G", "T"];
    let step = 0;
    while (Math.abs(value) >= 999.5 && step < 4) { value /= 1000; step += 1; }
    return String(Number(value.toPrecision(3))) + (prefixes[step] && `\u00a0${prefixes[step]}`);
  };

  // Tables: a click or a key press on a heading sorts, a second one turns the order around.
  const cellValue = (row, column) => {
    const cell = row.cells[column];
    const value = cell?.dataset.value;
    return value !== undefined ? Number(value) : cell?.textContent.trim() ?? "";
  };
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  const isUnknown = (row, column) => row.cells[column]?.classList.contains("unknown");
  const sort = (table, heading) => {
    const column = heading.cellIndex;
    const upwards = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", upwards ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    rows.sort((one, other) => {
      // What is not known stays last.
      const unknown = isUnknown(one, column) - isUnknown(other, column);
      if (unknown) return unknown;
      const order = compare(cellValue(one, column), cellValue(other, column));
      return upwards ? order : -order;
    });
    body.append(...rows);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("button")?.closest("th");
      if (heading) sort(table, heading);
    });
  }

  // Marks differ in shape, too, for those who do not see the colours.
  const SHAPES = [
    (path, x, y, r) => path.arc(x, y, r, 0, 2 * Math.PI),
    (path, x, y, r) => path.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
    (path, x, y, r) => { path.moveTo(x, y - r * 1.2); path.lineTo(x + r * 1.1, y + r * 0.9); path.lineTo(x - r * 1.1, y + r * 0.9); path.closePath(); },
    (path, x, y, r) => { path.moveTo(x, y - r * 1.3); path.lineTo(x + r * 1.3, y); path.lineTo(x, y + r * 1.3); path.lineTo(x - r * 1.3, y); path.closePath(); },
    (path, x, y, r) => { path.moveTo(x, y + r * 1.2); path.lineTo(x + r * 1.1, y - r * 0.9); path.lineTo(x - r * 1.1, y - r * 0.9); path.closePath(); },
    (path, x, y, r) => { path.rect(x - r * 1.3, y - r * 0.45, r * 2.6, r * 0.9); },
  ];
  const SVG_SHAPES = [
    '<circle cx="8" cy="8" r="5"/>', '<rect x="3.5" y="3.5" width="9" height="9"/>', '<path d="M8 2l5.5 10.500H2.500z"/>',
    '<path d="M8 1.500L14.500 8 8 14.500 1.500 8z"/>', '<path d="M8 14L2.500 3.500h11z"/>', '<rect x="1.500" y="5.700" width="13" height="4.600"/>',
  ];
  const mark = (context, side, x, y, radius) => {
    const path = new Path2D();
    SHAPES[side % SHAPES.length](path, x, y, radius);
    context.fillStyle = sideColor(side);
    context.fill(path);
  };
  const legend = (sides) => {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const side of sides) {
      const item = document.createElement("li");
      item.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true" fill="${sideColor(side)}">${SVG_SHAPES[side % SVG_SHAPES.length]}</svg>`;
      item.append(data.sides[side]);
      list.append(item);
    }
    return list;
  };

  const axis = (more) => ({
    stroke: color("--text"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 }, ...more,
  });
  const width = (place) => Math.max(240, Math.floor(place.clientWidth));
  const charts = [];
  const show = (place, options, columns) => {
    const chart = new uPlot({ width: width(place), height: 320, legend: { show: false }, padding: [12, 12, 0, 0], ...options }, columns, place);
    charts.push({ chart, place });
    return chart;
  };

  // Ticks 1, 2, 5 of each decade; near 1 the finer ones.
  const logTicks = (low, high) => {
    const ticks = [];
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade += 1) {
      for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** decade);
    }
    let inside = ticks.filter((tick) => tick >= low && tick <= high);
    if (inside.length < 3) {
      const step = 10 ** Math.floor(Math.log10(high - low));
      const fine = (high - low) / step < 3 ? step / 4 : step / 2;
      inside = [];
      for (let tick = Math.ceil(low / fine) * fine; tick <= high; tick += fine) inside.push(Number(tick.toPrecision(6)));
    }
    return inside;
  };

  // Marks over the queries on a logarithmic scale. `marks` are {side, query, value, low, high, label}.
  const categories = (place, marks, { reference, format }) => {
    const values = marks.flatMap((mark) => [mark.value, mark.low ?? mark.value, mark.high ?? mark.value]).filter((value) => value > 0);
    if (!values.length) { place.textContent = "There is nothing to draw."; return; }
    if (reference) values.push(reference);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = Math.max(1.02, (high / low) ** 0.06);
    const range = [low / margin, high * margin];
    const sides = [...new Set(marks.map((mark) => mark.side))].sort((one, other) => one - other);
    place.append(legend(sides));
    const reading = place.parentElement.querySelector(".reading");
    const offset = (side) => (sides.indexOf(side) - (sides.length - 1) / 2) * Math.min(0.22, 0.7 / sides.length);
    const draw = (chart) => {
      const { ctx, bbox } = chart;
      ctx.save();
      const radius = 4 * devicePixelRatio;
      if (reference) {
        const y = chart.valToPos(reference, "y", true);
        ctx.strokeStyle = color("--text");
        ctx.lineWidth = devicePixelRatio;
        ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); ctx.stroke();
      }
      for (const one of marks) {
        const x = chart.valToPos(one.query + offset(one.side), "x", true);
        if (one.low != null && one.high != null) {
          ctx.strokeStyle = sideColor(one.side);
          ctx.lineWidth = 1.5 * devicePixelRatio;
          ctx.beginPath();
          ctx.moveTo(x, chart.valToPos(one.low, "y", true));
          ctx.lineTo(x, chart.valToPos(one.high, "y", true));
          ctx.stroke();
        }
        mark(ctx, one.side, x, chart.valToPos(one.value, "y", true), radius);
      }
      ctx.restore();
    };
    const narrow = width(place) < 40 * data.queries.length;
    show(place, {
      scales: {
        x: { time: false, range: [-0.6, data.queries.length - 0.4] },
        y: { distr: 3, range },
      },
      axes: [
        axis({ splits: data.queries.map((_, index) => index), values: (_, splits) => splits.map((index) => data.queries[index]), rotate: narrow ? -90 : 0, size: narrow ? 56 : 32, space: 1 }),
        axis({ splits: () => logTicks(...range), filter: (_, splits) => splits, values: (_, splits) => splits.map(format), size: 64, space: 1 }),
      ],
      cursor: { y: false, points: { show: false }, drag: { x: false } },
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: {
        draw: [draw],
        setCursor: [(chart) => {
          const query = Math.round(chart.posToVal(chart.cursor.left, "x"));
          const found = marks.filter((mark) => mark.query === query);
          reading.textContent = chart.cursor.left < 0 || !found.length ? "" : `${data.queries[query]}: ${found.map((mark) => mark.label).join("; ")}`;
        }],
      },
    }, [data.queries.map((_, index) => index), data.queries.map(() => range[0])]);
  };

  const present = (values, make) => values.flatMap((value, query) => (value == null ? [] : [make(value, query)]));
  const ratio = (value) => String(Number(value.toPrecision(3)));

  const draws = {
    "per-core": (place) => categories(place, data.per_core.flatMap((values, side) => present(values, (value, query) => ({
      side, query, value, label: `${data.sides[side]} ${short(value)}`,
    }))), { format: short }),
    relative: (place) => categories(place, data.relative.flatMap(({ side, ratio: ratios, low, high }) => present(ratios, (value, query) => ({
      side: data.sides.indexOf(side), query, value, low: low[query], high: high[query],
      label: `${side} ${ratio(value)}` + (low[query] == null ? "" : ` (${ratio(low[query])} to ${ratio(high[query])})`),
    }))), { reference: 1, format: ratio }),
    spread: (place) => categories(place, data.spread.flatMap((queries, side) => queries.flatMap((values, query) => values.map((value) => ({
      side, query, value, label: `${data.sides[side]} ${ratio(value)}`,
    })))), { reference: 1, format: ratio }),
    "time-rate": (place) => overTime(place, "events_per_s"),
    "time-cores": (place) => overTime(place, "cores"),
    "time-memory": (place) => overTime(place, "rss_bytes"),
    history: (place) => data.history.forEach((line) => history(place, line)),
  };

  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 5]];
  const overTime = (place, what) => {
    const query = document.getElementById("time-query").value;
    const runs = data.time.filter((run) => run.query === query && run[what].some((value) => value != null));
    if (!runs.length) { place.textContent = "The runs did not tell it."; return; }
    place.append(legend([...new Set(runs.map((run) => run.side))]));
    const columns = uPlot.join(runs.map((run) => [run.seconds, run[what]]));
    const reading = place.parentElement.querySelector(".reading");
    // Sides that are far apart would make each other flat.
    const positive = runs.flatMap((run) => run[what].filter((value) => value > 0));
    const [low, high] = [positive.reduce((one, other) => Math.min(one, other), Infinity), positive.reduce((one, other) => Math.max(one, other), 0)];
    const far = high > 30 * low;
    const y = far ? { distr: 3, range: [low / 1.1, high * 1.1] } : { range: [0, (high || 1) * 1.05] };
    const ticks = far ? { splits: () => logTicks(low / 1.1, high * 1.1), filter: (_, splits) => splits, space: 1 } : {};
    show(place, {
      height: 220,
      scales: { x: { time: false }, y },
      axes: [axis({ values: (_, splits) => splits.map((value) => `${value}\u00a0s`) }), axis({ ...ticks, values: (_, splits) => splits.map(short), size: 64 })],
      cursor: { y: false, drag: { x: true } },
      series: [{}, ...runs.map((run) => ({
        stroke: sideColor(run.side), width: 1.5, dash: DASHES[run.side % DASHES.length], spanGaps: true, points: { show: run.seconds.length < 30, size: 4 },
      }))],
      hooks: {
        setCursor: [(chart) => {
          const index = chart.cursor.idx;
          const told = index == null ? [] : runs.flatMap((run, number) => {
            const value = chart.data[number + 1][index];
            return value == null ? [] : [`${data.sides[run.side]} #${run.repeat || 1} ${short(value)}`];
          });
          reading.textContent = told.length ? `${ratio(chart.data[0][index])} s: ${told.join("; ")}` : "";
        }],
      },
    }, columns);
  };

  // The day, and the time where less than two days are shown; UTC, as everywhere.
  const date = (moment, chart) => {
    const hours = (chart.scales.x.max - chart.scales.x.min) / 3600;
    return new Date(moment * 1000).toISOString().slice(hours < 48 ? 5 : 0, hours < 48 ? 16 : 10).replace("T", " ");
  };

  const history = (place, line) => {
    const title = document.createElement("h3");
    title.textContent = line.title;
    const figure = document.createElement("div");
    figure.className = "chart";
    figure.setAttribute("role", "img");
    figure.setAttribute("aria-label", `Runs over time; the numbers are in the table below. ${line.changes.length} changes of level.`);
    place.append(title, figure);
    show(figure, {
      height: 200,
      scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      axes: [axis({ values: (chart, splits) => splits.map((moment) => date(moment, chart)), space: 90 }), axis({ values: (_, splits) => splits.map(short), size: 64 })],
      cursor: { y: false },
      series: [{}, { paths: () => null, points: { show: true, size: 6, fill: sideColor(0), stroke: sideColor(0) } }],
      hooks: {
        draw: [(chart) => {
          const { ctx, bbox } = chart;
          ctx.save();
          ctx.strokeStyle = color("--bad");
          ctx.lineWidth = 2 * devicePixelRatio;
          ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
          for (const moment of line.changes) {
            const x = chart.valToPos(moment, "x", true);
            ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
          }
          ctx.restore();
        }],
      },
    }, [line.seconds, line.values]);
  };

  const drawAll = (kinds = () => true) => {
    for (const place of document.querySelectorAll("[data-chart]")) {
      if (!kinds(place.dataset.chart)) continue;
      for (let index = charts.length - 1; index >= 0; index -= 1) {
        if (place.contains(charts[index].place)) charts.splice(index, 1)[0].chart.destroy();
      }
      place.replaceChildren();
      draws[place.dataset.chart](place);
    }
  };

  drawAll();
  document.getElementById("time-query")?.addEventListener("change", () => drawAll((kind) => kind.startsWith("time-")));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
  let drawnFor = root.clientWidth;
  addEventListener("resize", () => {
    // On a phone the bars of the browser come and go; only the width matters.
    if (root.clientWidth !== drawnFor) { drawnFor = root.clientWidth; drawAll(); }
  });
  // Paper is light and narrow, whatever the screen is; what is folded is printed, too.
  let folded = [];
  addEventListener("beforeprint", () => {
    root.dataset.print = "";
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
    document.body.style.width = "680px";
    drawAll();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.print;
    document.body.style.width = "";
    for (const details of folded) details.open = false;
    drawAll();
  });
})();

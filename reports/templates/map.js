// Plays the moments of a map: places of nodes, lines through them, and what is said beside it.
(function () {
  "use strict";
  var STEP_MS = 100;
  var TRACES = [0, 1, 2, 4, 3]; // the lines, the ends of the flow, and below these all nodes
  var moments = JSON.parse(document.getElementById("moments").textContent);
  var map = document.getElementById("map"), beside = document.getElementById("map-window");
  var slider = document.getElementById("moment"), button = document.getElementById("play");
  var said = document.querySelectorAll("#moving [data-said]");
  var timer = null;

  function along(nodes, values) {
    return nodes.map(function (node) { return node < 0 ? null : values[node]; });
  }

  // What the CSV of the map contains: the nodes of each piece of a line.
  function listed(now, nodes) {
    var found = { "time [s]": [], "node": [], "x [m]": [], "y [m]": [] }, piece = 0;
    nodes.forEach(function (node) {
      if (node < 0) { piece += 1; found.piece = found.piece || []; return; }
      found["time [s]"].push(now.t);
      found.node.push(node);
      found["x [m]"].push(now.x[node]);
      found["y [m]"].push(now.y[node]);
      if (found.piece) { found.piece.push(piece); }
    });
    return { columns: found };
  }

  function show(k) {
    var now = moments[k], lines = now.lines.map(function (nodes) { return along(nodes, now.x); });
    var heights = now.lines.map(function (nodes) { return along(nodes, now.y); });
    now.lines.concat([now.x.map(function (_, node) { return node; })]).forEach(function (nodes, i) {
      map.data[TRACES[i]].meta = listed(now, nodes);
    });
    Plotly.restyle(map, { x: lines.concat([now.x]), y: heights.concat([now.y]) }, TRACES);
    Plotly.relayout(beside, { "shapes[0].x0": now.t, "shapes[0].x1": now.t });
    said.forEach(function (element, i) { element.textContent = now.says[i]; });
    slider.value = k;
    slider.setAttribute("aria-valuetext", now.says[0]);
  }

  function stop() {
    window.clearInterval(timer);
    timer = null;
    button.textContent = "▶ play";
  }

  function play() {
    if (Number(slider.value) === moments.length - 1) { show(0); }
    button.textContent = "❚❚ pause";
    timer = window.setInterval(function () {
      var next = Number(slider.value) + 1;
      if (next < moments.length) { show(next); } else { stop(); }
    }, STEP_MS);
  }

  button.addEventListener("click", function () { if (timer === null) { play(); } else { stop(); } });
  slider.addEventListener("input", function () { stop(); show(Number(slider.value)); });
})();

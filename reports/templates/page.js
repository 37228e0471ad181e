(function () {
  "use strict";
  var config = { responsive: true, displayModeBar: false };
  var plots = [], figures = {};

  // Parallel coordinates carry only the heights: places and keys are the same along each line.
  function expanded(figure) {
    if (!figure.stride) { return figure; }
    var step = figure.stride + 1;
    figure.data = figure.data.map(function (trace) {
      var keys = trace.customdata;
      return Object.assign({}, trace, {
        x: trace.y.map(function (_, i) { return i % step; }),
        customdata: trace.y.map(function (_, i) { return keys[Math.floor(i / step)]; })
      });
    });
    return figure;
  }

  function boxes(element) {
    return Array.prototype.slice.call(document.querySelectorAll('select[data-plot="' + element.id + '"]'));
  }

  // Not all options have a figure with those of the later boxes: they cannot be chosen, and are given up.
  function settle(element) {
    var figure = figures[element.id], tail = "";
    var names = Object.keys(figure.variants || {});
    names.push((figure.choices || []).map(function (choice) { return choice.start; }).join("."));
    boxes(element).reverse().forEach(function (box) {
      var options = Array.prototype.slice.call(box.options);
      options.forEach(function (option) {
        option.disabled = !names.some(function (name) { return ("." + name).endsWith("." + option.value + tail); });
      });
      if (options[box.selectedIndex].disabled) {
        box.value = options.filter(function (option) { return !option.disabled; })[0].value;
      }
      tail = "." + box.value + tail;
    });
  }

  // A figure with choices holds the one first shown, and what is different in the others.
  function chosen(element) {
    var figure = figures[element.id];
    var name = boxes(element).map(function (box) { return box.value; }).join(".");
    var other = figure.variants && figure.variants[name];
    var data = figure.data.map(function (trace, i) { return Object.assign({}, trace, other && other.data[i]); });
    var layout = Object.assign({}, figure.layout, other && other.layout);
    // Plotly writes into what it is given.
    var copy = expanded(JSON.parse(JSON.stringify({ data: data, layout: layout, stride: figure.stride })));
    fit(element, copy.layout);
    return copy;
  }

  // A title of the y axis that is longer than the figure is high would be cut off.
  function fit(element, layout) {
    var axis = layout.yaxis, title = axis && axis.title;
    if (!title || !title.text) { return; }
    var size = (title.font && title.font.size) || (layout.font && layout.font.size) || 14;
    var most = Math.floor(0.85 * element.clientHeight / (0.58 * title.text.length));
    if (most < size) { title.font = Object.assign({}, title.font, { size: Math.max(most, 9) }); }
  }

  // What was chosen stands in the address, `#winner=1.0&gain=2`, so that a link shows the same page.
  function remember() {
    var state = [];
    plots.forEach(function (element) {
      var found = boxes(element);
      var moved = found.some(function (box) { return !box.options[box.selectedIndex].defaultSelected; });
      if (moved) { state.push(element.id + "=" + found.map(function (box) { return box.value; }).join(".")); }
    });
    window.history.replaceState(null, "", state.length ? "#" + state.join("&") : "#");
  }
  function recall(element) {
    var said = window.location.hash.slice(1).split("&").filter(function (part) {
      return part.indexOf(element.id + "=") === 0;
    });
    var values = said.length ? said[0].slice(element.id.length + 1).split(".") : [];
    boxes(element).forEach(function (box, i) {
      if (Array.prototype.some.call(box.options, function (option) { return option.value === values[i]; })) {
        box.value = values[i];
      }
    });
  }

  document.querySelectorAll(".plot").forEach(function (element) {
    figures[element.id] = JSON.parse(document.getElementById(element.id + "-data").textContent);
    recall(element);
    settle(element);
    var figure = chosen(element);
    Plotly.newPlot(element, figure.data, figure.layout, config).then(function () {
      element.setAttribute("data-drawn", "yes");
      element.on("plotly_click", function (event) { keep(element, event.points[0]); });
    });
    plots.push(element);
  });
  // Some browsers change the width of a page after its scripts have run, without an event of the window.
  if (window.ResizeObserver) {
    var observer = new ResizeObserver(function (entries) {
      entries.forEach(function (entry) {
        var element = entry.target, drawn = element._fullLayout;
        if (drawn && entry.contentRect.width && Math.abs(drawn.width - entry.contentRect.width) > 1) {
          Plotly.Plots.resize(element);
        }
      });
    });
    plots.forEach(function (element) { observer.observe(element); });
  }
  document.querySelectorAll("select[data-plot]").forEach(function (box) {
    box.addEventListener("change", function () {
      var element = document.getElementById(box.dataset.plot);
      settle(element);
      var figure = chosen(element);
      Plotly.react(element, figure.data, figure.layout, config).then(function () {
        element.dispatchEvent(new Event("changed"));
      });
      remember();
    });
  });

  // The command that runs a cell again stays on the page after a click, to be copied.
  var panel = document.getElementById("cell");
  function keep(element, point) {
    var key = Array.isArray(point.customdata) ? point.customdata[0] : point.customdata;
    if (!panel || !key) { return; }
    var name = (point.data.name || "").replace(/&lt;/g, "<").replace(/&amp;/g, "&");
    panel.querySelector("b").textContent = "Cell " + key + (name ? ", " + name : "");
    panel.querySelector("code").textContent = panel.dataset.command + " " + key;
    panel.querySelector(".copy").textContent = "copy";
    panel.hidden = false;
    var stride = figures[element.id].stride;
    if (stride) { // the line of a network in parallel coordinates, drawn by the last trace
      var first = point.pointNumber - point.pointNumber % (stride + 1), last = element.data.length - 1;
      Plotly.restyle(element, {
        x: [point.data.x.slice(first, first + stride)], y: [point.data.y.slice(first, first + stride)]
      }, [last]);
    }
  }
  if (panel) {
    panel.querySelector(".close").addEventListener("click", function () { panel.hidden = true; });
    panel.querySelector(".copy").addEventListener("click", function (event) {
      window.getSelection().selectAllChildren(panel.querySelector("code"));
      if (document.execCommand("copy")) { event.target.textContent = "copied"; }
    });
  }

  // A printed page has another width than the screen, and a plot knows its width in pixels.
  window.addEventListener("beforeprint", function () {
    plots.forEach(function (element) { Plotly.relayout(element, { width: 680, height: 360 }); });
  });
  window.addEventListener("afterprint", function () {
    plots.forEach(function (element) { Plotly.relayout(element, { width: null, height: null, autosize: true }); });
  });
})();

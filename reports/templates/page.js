(function () {
  "use strict";
  var config = { responsive: true, displayModeBar: false };
  var plots = [];
  document.querySelectorAll(".plot").forEach(function (element) {
    var figure = JSON.parse(document.getElementById(element.id + "-data").textContent);
    Plotly.newPlot(element, figure.data, figure.layout, config).then(function () {
      element.setAttribute("data-drawn", "yes");
    });
    plots.push(element);
  });
  // A printed page has another width than the screen, and a plot knows its width in pixels.
  window.addEventListener("beforeprint", function () {
    plots.forEach(function (element) { Plotly.relayout(element, { width: 680, height: 360 }); });
  });
  window.addEventListener("afterprint", function () {
    plots.forEach(function (element) { Plotly.relayout(element, { width: null, height: null, autosize: true }); });
  });
})();

#include "cli/optimization/page/script.h"

namespace regraft::cli {

std::string page_script() {
  return R"js(
(function () {
  "use strict";
  var panes = [].slice.call(document.querySelectorAll(".pane .view"));
  var chosen = null;
  function all(selector, root) {
    return [].slice.call((root || document).querySelectorAll(selector));
  }
  function has(element, region) {
    var near = element.getAttribute("data-a");
    return near !== null ? near.split(" ").indexOf(region) !== -1 : false;
  }
  function clear() {
    all(".hot, .near, .same").forEach(function (e) { e.classList.remove("hot", "near", "same"); });
  }
  function centre(box, elements) {
    if (elements.length === 0) { return; }
    var room = box.getBoundingClientRect(), top = Infinity, bottom = -Infinity;
    var left = Infinity, right = -Infinity;
    elements.forEach(function (e) {
      var r = e.getBoundingClientRect();
      top = Math.min(top, r.top); bottom = Math.max(bottom, r.bottom);
      left = Math.min(left, r.left); right = Math.max(right, r.right);
    });
    var down = bottom - top > room.height ? top - room.top - 20
                                          : (top + bottom) / 2 - room.top - room.height / 2;
    var along = right - left > room.width ? left - room.left - 20
                                          : (left + right) / 2 - room.left - room.width / 2;
    box.scrollTo({ top: box.scrollTop + down, left: box.scrollLeft + along });
  }
  function members(box, region) {
    var found = all("svg g[data-r='" + region + "']", box);
    if (found.length === 0) {
      found = all("svg g[data-a]", box).filter(function (e) { return has(e, region); });
    }
    return found;
  }
  function mark(region) {
    clear();
    all("[data-r='" + region + "']").forEach(function (e) { e.classList.add("hot"); });
    all("g[data-a]").forEach(function (e) { if (has(e, region)) { e.classList.add("near"); } });
  }
  function choose(region, from) {
    chosen = region;
    mark(region);
    panes.forEach(function (box) { if (box !== from) { centre(box, members(box, region)); } });
    var item = document.querySelector(".changes details[data-r='" + region + "']");
    if (item === null) { return; }
    var list = document.querySelector(".changes");
    if (list !== from) {
      all("details", list).forEach(function (e) { e.open = e === item; });
      list.scrollTop += item.getBoundingClientRect().top - list.getBoundingClientRect().top - 8;
    }
  }
  function node(id, from) {
    chosen = null;
    clear();
    all("g.op[data-n='" + id + "'], g.va[data-n='" + id + "']").forEach(function (e) {
      e.classList.add("same");
    });
    panes.forEach(function (box) {
      if (box !== from) { centre(box, all("g.same", box)); }
    });
  }
  document.addEventListener("click", function (event) {
    var place = event.target.closest("g[data-r], g[data-n], .strip i");
    if (place === null) { return; }
    var box = event.target.closest(".view"), region = place.getAttribute("data-r");
    if (region !== null) { choose(region, box); return; }
    node(place.getAttribute("data-n"), place.classList.contains("st") ? null : box);
  });
  document.addEventListener("mouseover", function (event) {
    var place = event.target.closest("g[data-r], .strip i");
    if (place !== null) { mark(place.getAttribute("data-r")); }
    else if (chosen !== null) { mark(chosen); }
    else if (event.target.closest(".view") === null) { all(".hot, .near").forEach(function (e) {
      e.classList.remove("hot", "near");
    }); }
  });
  all(".changes details").forEach(function (item) {
    item.querySelector("summary").addEventListener("click", function () {
      if (!item.open) { choose(item.getAttribute("data-r"), item.parentNode); }
    });
  });
  function zoom(part) {
    all(".view svg").forEach(function (svg) {
      svg.style.width = svg.viewBox.baseVal.width * part + "px";
      svg.style.height = "auto";
    });
  }
  var slider = document.getElementById("zoom");
  if (slider !== null) {
    slider.parentNode.hidden = false;
    slider.addEventListener("input", function () {
      zoom(slider.value / 100);
      if (chosen !== null) {
        panes.forEach(function (box) { centre(box, members(box, chosen)); });
      }
    });
  }
  function start() {
    var asked = /^#region-(\d+)$/.exec(location.hash), best = null;
    if (asked !== null) { choose(String(asked[1] - 1), null); return; }
    all(".changes details").forEach(function (item) {
      if (best === null) { best = item; }
      else if (Number(item.getAttribute("data-gain")) > Number(best.getAttribute("data-gain"))) {
        best = item;
      }
    });
    if (best !== null) { choose(best.getAttribute("data-r"), null); return; }
    panes.forEach(function (box) { centre(box, all("svg", box)); });
  }
  window.addEventListener("hashchange", start);
  start();
}());
)js";
}

}  // namespace regraft::cli

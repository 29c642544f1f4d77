// gst-spdl: search of the documentation site, in a page that was opened from disk
"use strict";

const input = document.getElementById("search");
const found = document.getElementById("found");
const root = document.documentElement.dataset.root;

// Scores a section: a word in the heading counts more than one in the text.
function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    const inTitle = entry.low.indexOf(word);
    if (inTitle < 0 && !entry.lowText.includes(word)) return 0;
    sum += inTitle < 0 ? 1 : entry.low === word ? 40 : inTitle ? 5 : 10;
  }
  return sum / (entry.page === entry.title ? 1 : 1.2);
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = !words.length;
  found.replaceChildren();
  const best = words.length ? SEARCH_INDEX
    .map(entry => [score(entry, words), entry])
    .filter(([value]) => value > 0)
    .sort(([a], [b]) => b - a).slice(0, 12) : [];
  for (const [, entry] of best) {
    const line = document.createElement("p");
    const link = document.createElement("a");
    const place = document.createElement("small");
    const word = Math.max(0, entry.lowText.indexOf(words[0]) - 40);
    // An excerpt begins and ends between two words.
    const at = word && entry.text.indexOf(" ", word) + 1;
    const excerpt = entry.text.slice(at, at + 140);
    link.href = root + entry.url;
    link.textContent = entry.title;
    place.textContent = entry.page + ": " + (
      at + 140 < entry.text.length ? excerpt.replace(/ \S*$/, " …") : excerpt);
    line.append(link, place);
    found.append(line);
  }
  if (words.length && !best.length) found.textContent = "No page matches.";
}

for (const entry of SEARCH_INDEX) {
  entry.low = entry.title.toLowerCase();
  entry.lowText = entry.text.toLowerCase();
}
input.addEventListener("input", show);
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape") {
    found.hidden = true;
  }
});
document.addEventListener("click", event => {
  if (!found.contains(event.target) && event.target !== input) found.hidden = true;
});
input.value = new URLSearchParams(location.search).get("q") || "";
show();

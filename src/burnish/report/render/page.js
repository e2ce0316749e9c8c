// Makes tables sortable by a click on a column's head; without scripts every table is as complete, in its own order.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const figure = (row, at) => {
    const text = (row.cells[at] ? row.cells[at].textContent : "").trim().replace(/,(?=\d{3})/g, "").replace("−", "-");
    const number = /^[+-]?\d+(\.\d+)?/.exec(text);
    return number ? [0, parseFloat(number[0]), text] : [text === "-" || text === "" ? 2 : 1, 0, text];
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending" || (!head.hasAttribute("aria-sort") && at === 0);
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [figure(row, at), row]);
      rows.sort(([one], [other]) => one[0] - other[0]
        || (up ? 1 : -1) * (one[1] - other[1] || one[2].localeCompare(other[2])));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

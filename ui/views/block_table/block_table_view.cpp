// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/block_table/block_table_view.h"

#include "ui/views/block_table/block_table_area.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/tr.h"

#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

/// The legend with the states of this table only, so that a narrow title bar has room for their names.
std::vector<BlockLegend::Meaning> legendOf(const BlockTable& table) {
  std::vector<BlockLegend::Meaning> states = stateLegend();
  if (table.rows.empty()) return states;
  const auto anyCell = [&table](const auto& matches) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&matches](const TableRow& row) {
      return std::any_of(row.cells.begin(), row.cells.end(), matches);
    });
  };
  std::erase_if(states, [&](const BlockLegend::Meaning& state) {
    return !anyCell([&state](const TableCell& cell) { return cell.role == state.look.role; });
  });
  if (anyCell([](const TableCell& cell) { return cell.isPartialHit(); })) states.push_back(partialMeaning());
  if (anyCell([](const TableCell& cell) { return cell.facts.load != 0; })) states.push_back(loadedMeaning());
  return states;
}

/// Index of the request's row; the newest row if it has none.
std::size_t rowOf(const BlockTable& table, RequestId request) {
  const auto found = std::find_if(table.rows.begin(), table.rows.end(),
                                  [request](const TableRow& row) { return row.request == request; });
  const std::size_t newest = table.rows.empty() ? 0 : table.rows.size() - 1;
  return found == table.rows.end() ? newest : static_cast<std::size_t>(found - table.rows.begin());
}

}  // namespace

BlockTableView::BlockTableView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace, Pace::EveryInput, parent),
      MovingView(this),
      m_area(new BlockTableArea(this)) {
  setAccessibleName(tr("Block table"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_area);
  m_area->showTable(&m_table, true, {}, kNullBlock, theme());
  m_area->setTips(
      [this](const CellPlace& place) { return input() ? cellTip(*input(), m_table, place) : QString(); });
  connect(m_area, &BlockTableArea::chosen, this, &BlockTableView::select);
}

void BlockTableView::perform(const QString& command) {
  if (command == QLatin1String("view.larger")) m_area->setLarger(true);
  if (command == QLatin1String("view.usual-size")) m_area->setLarger(false);
}

QWidget* BlockTableView::takeTitleControls() {
  if (!m_legend) {
    m_legend = new BlockLegend(legendOf(m_table));
    m_legend->setTheme(theme());
  }
  return m_legend;
}

void BlockTableView::refresh() {
  m_history.follow(input()->trace);
  BlockTable table = blockTable(*input(), m_history);
  const bool changed = table != m_table;
  const bool grown = table.rows.size() > m_table.rows.size();
  if (changed) m_table = std::move(table);
  if (m_legend) {
    m_legend->setTheme(theme());
    m_legend->setEntries(legendOf(m_table));
  }

  const std::optional<CellPlace> current = selectedCell(m_table, input()->selection);
  BlockId physical = input()->selection.physical;
  if (physical == kNullBlock && current)
    physical = m_table.rows[current->row].cells[current->cell].facts.physical;
  stopMotion();
  m_area->showTable(&m_table, changed, current, physical, theme());
  showMotion();
  // With runs of several documents in the table, the newest row may be another document's.
  const RequestId request = input()->shownRequest();
  const std::size_t row = rowOf(m_table, request);
  if (grown || request != m_request) {
    m_area->showRow(row);
    m_showsMiss = false;
  }
  m_request = request;
  m_area->setAccessibleDescription(current ? cellTip(*input(), m_table, *current) : QString());
  if (m_shown != input()->selection) {
    m_shown = input()->selection;
    m_showsMiss = false;
    if (current) m_area->reveal(*current);
  }
  // The first miss is seldom in the first blocks, because prompts begin alike.
  if (!current && !m_showsMiss) {
    const std::optional<CellPlace> miss = cellToShow(*input(), m_table, row);
    m_showsMiss = miss.has_value();
    if (miss) m_area->reveal(*miss);
  }

  QString summary;
  if (!m_table.rows.empty()) {
    summary =
        m_table.blockSize == 1 ? tr("blocks of 1 token") : tr("blocks of %1 tokens").arg(m_table.blockSize);
  }
  if (summary == m_summary) return;
  m_summary = summary;
  Q_EMIT summaryChanged(m_summary);
}

void BlockTableView::stopMotion() {
  m_area->showMotion(nullptr, 1);
  m_motion.reset();
}

void BlockTableView::showMotion() {
  if (input() == nullptr || !moment().isUnderwayAt(input()->position)) return stopMotion();
  if (!m_motion) m_motion = tableMotion(*input(), moment(), m_table, m_history);
  m_area->showMotion(&*m_motion, moment().done);
}

void BlockTableView::select(const CellPlace& place) {
  if (input() == nullptr || place.row >= m_table.rows.size()) return;
  const TableRow& row = m_table.rows[place.row];
  if (place.cell >= row.cells.size()) return;
  Q_EMIT selectionWanted(selectionOfBlock(*input(), row.cells[place.cell].facts.place));
}

const QWidget& BlockTableView::placesIn() const {
  return *m_area->viewport();
}

std::vector<QRect> BlockTableView::placesOf(const Selection& part) const {
  const std::optional<CellPlace> cell = selectedCell(m_table, part);
  if (!cell || cell->row >= m_area->tableLayout().rowCount()) return {};
  const QRect place = m_area->tableLayout().cell(*cell);
  if (place.isNull()) return {};
  return {m_area->inViewport(place)};
}

void BlockTableView::bringIntoSight(const Selection& part) {
  if (const std::optional<CellPlace> cell = selectedCell(m_table, part)) m_area->reveal(*cell);
}

QString BlockTableView::csv() const {
  if (input() == nullptr) return {};
  BlockHistory history;
  history.follow(input()->trace);
  return blockTableCsv(blockTable(*input(), history));
}

void BlockTableView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  m_area->paintWhole(painter, size);
}

ViewInfo blockTableRow() {
  return {.id = QStringLiteral("block-table"),
          .title = tr("Block table"),
          .help = tr("Which block of the pool serves each block of each prompt"),
          .make = makeViewOf<BlockTableView>,
          .needs = {Fact::Prompts, Fact::BlockLookups},
          .places = {{LayoutId::Explain, Room::Low, Room::Low, 0, 1, 0, 54},
                     {LayoutId::Explain, Room::Middle, Room::Full, 0, 2, 0, 40},
                     {LayoutId::Explain, Room::Large, Room::Large, 0, 2, 0, 26}}};
}

}  // namespace spanscope::ui

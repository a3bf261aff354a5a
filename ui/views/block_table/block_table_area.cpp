// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/block_table/block_table_area.h"

#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

std::pair<std::size_t, std::size_t> orderOf(const CellPlace& place) {
  return {place.row, place.cell};
}

QString noteOf(const trace::BlockLookedUp& lookup, std::int32_t blockSize) {
  const std::int64_t shift = std::int64_t{lookup.virtualIndex} * blockSize;
  if (lookup.base == lookup.storedBase) return tr("stored and used at position %1").arg(lookup.base + shift);
  return tr("stored at position %1, used at %2").arg(lookup.storedBase + shift).arg(lookup.base + shift);
}

/// The places of blocks in the row of one request, and in the rows above it.
class RowPlaces {
 public:
  explicit RowPlaces(const BlockTable& table) : m_table(table), m_row(table.rows.size()) {}

  void show(RequestId request) {
    if (request == m_request) return;
    m_request = request;
    m_cells.clear();
    m_users.clear();
    m_holders.clear();
    m_row = 0;
    while (m_row < m_table.rows.size() && m_table.rows[m_row].request != request) ++m_row;
    if (m_row == m_table.rows.size()) return;
    const std::vector<TableCell>& own = m_table.rows[m_row].cells;
    for (std::size_t cell = 0; cell < own.size(); ++cell) {
      const BlockRef& place = own[cell].facts.place;
      m_cells.emplace(std::pair(place.segment, place.virtualIndex), cell);
      m_users.emplace(own[cell].facts.physical, cell);
    }
    // If several rows use a block, the nearest row counts.
    for (std::size_t above = m_row; above-- > 0;) {
      for (std::size_t cell = 0; cell < m_table.rows[above].cells.size(); ++cell) {
        const TableCell& holder = m_table.rows[above].cells[cell];
        if (holder.isThere()) m_holders.emplace(holder.facts.physical, CellPlace{above, cell});
      }
    }
  }

  std::optional<CellPlace> cell(std::uint32_t segment, std::int32_t block) const {
    const auto found = m_cells.find(std::pair(segment, block));
    return found == m_cells.end() ? std::nullopt : std::optional(CellPlace{m_row, found->second});
  }
  std::optional<CellPlace> user(BlockId block) const {
    const auto found = m_users.find(block);
    return found == m_users.end() ? std::nullopt : std::optional(CellPlace{m_row, found->second});
  }
  std::optional<CellPlace> holder(BlockId block) const {
    const auto found = m_holders.find(block);
    return found == m_holders.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const BlockTable& m_table;
  RequestId m_request = 0;
  std::size_t m_row;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> m_cells;
  std::unordered_map<BlockId, std::size_t> m_users;
  std::unordered_map<BlockId, CellPlace> m_holders;
};

void addTravel(TableMotion& motion, const TraceStore& trace, const BlockTable& table,
               const std::optional<CellPlace>& from, const std::optional<CellPlace>& to) {
  if (!from || !to) return;
  const VirtualBlockFacts& facts = table.rows[to->row].cells[to->cell].facts;
  const trace::BlockLookedUp* lookup = lookupEvent(trace, facts.lookup);
  if (lookup == nullptr) return;
  const bool isMoved = lookup->base != lookup->storedBase;
  motion.travels.push_back(
      {.from = *from, .to = *to, .role = isMoved ? BlockRole::Relocated : BlockRole::Hit});
  if (motion.note.isEmpty()) motion.note = noteOf(*lookup, table.blockSize);
}

}  // namespace

bool TableMotion::isComputing(const CellPlace& place) const {
  return std::binary_search(computing.begin(), computing.end(), place,
                            [](const CellPlace& a, const CellPlace& b) { return orderOf(a) < orderOf(b); });
}

const TableCell* TableMotion::cellBefore(const CellPlace& place) const {
  if (place.row >= rowBefore.size() || rowBefore[place.row] < 0) return nullptr;
  const std::vector<TableCell>& cells = before.rows[static_cast<std::size_t>(rowBefore[place.row])].cells;
  return place.cell < cells.size() ? &cells[place.cell] : nullptr;
}

bool TableMotion::travelsTo(const CellPlace& place) const {
  const auto found = std::lower_bound(travels.begin(), travels.end(), place,
                                      [](const TableTravel& travel, const CellPlace& wanted) {
                                        return orderOf(travel.to) < orderOf(wanted);
                                      });
  return found != travels.end() && found->to == place;
}

TableMotion tableMotion(const ViewInput& input, const Moment& moment, const BlockTable& table,
                        const BlockHistory& history) {
  TableMotion motion;
  ViewInput earlier = input;
  earlier.position = moment.first;
  motion.before = blockTable(earlier, history);
  std::map<RequestId, int> rows;
  for (std::size_t row = 0; row < motion.before.rows.size(); ++row)
    rows.emplace(motion.before.rows[row].request, static_cast<int>(row));
  for (const TableRow& row : table.rows) {
    const auto found = rows.find(row.request);
    motion.rowBefore.push_back(found == rows.end() ? -1 : found->second);
  }

  RowPlaces places(table);
  for (std::size_t i = moment.first; i < moment.last; ++i) {
    const trace::Event& event = input.trace->event(i);
    if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
      places.show(event.request);
      const std::optional<CellPlace> to = places.cell(shared->segment, shared->virtualIndex);
      addTravel(motion, *input.trace, table, places.holder(shared->block), to);
    } else if (const auto* copied = std::get_if<trace::BlockCopied>(&event.payload)) {
      places.show(event.request);
      addTravel(motion, *input.trace, table, places.holder(copied->source), places.user(copied->target));
    } else if (const auto* batch = std::get_if<trace::BatchComputed>(&event.payload)) {
      for (const trace::BatchEntry& entry : batch->entries) {
        if (entry.decode) continue;  // a single new token has no motion
        places.show(entry.request);
        const std::int32_t end = entry.begin + entry.count;
        for (std::int32_t block = entry.begin / table.blockSize; block * table.blockSize < end; ++block) {
          if (const std::optional<CellPlace> cell = places.cell(entry.segment, block))
            motion.computing.push_back(*cell);
        }
      }
    }
  }
  std::sort(motion.computing.begin(), motion.computing.end(),
            [](const CellPlace& x, const CellPlace& y) { return orderOf(x) < orderOf(y); });
  std::sort(motion.travels.begin(), motion.travels.end(),
            [](const TableTravel& a, const TableTravel& b) { return orderOf(a.to) < orderOf(b.to); });
  return motion;
}

namespace {

/// Height of the numbers below the cells of a row.
constexpr int kNumbersBelow = 20;

}  // namespace

BlockTableArea::BlockTableArea(QWidget* parent) : ZoomedScroll(parent) {
  setAccessibleName(tr("Blocks of each request"));
  for (const QScrollBar* bar : {verticalScrollBar(), horizontalScrollBar()})
    connect(bar, &QScrollBar::actionTriggered, this, [this] { m_revealed.reset(); });
  connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_keepsRow = false; });
}

void BlockTableArea::showTable(const BlockTable* table, bool changed, std::optional<CellPlace> current,
                               BlockId physical, const Theme& theme) {
  changed = changed || m_table == nullptr;
  if (changed || current != m_current || theme != this->theme()) m_overview = {};
  m_table = table;
  m_current = current;
  m_physical = physical;
  setTheme(theme);
  m_painter.setTheme(theme);
  if (changed) layOut();
  viewport()->update();
}

void BlockTableArea::showMotion(const TableMotion* motion, double done) {
  if (motion == nullptr && m_motion == nullptr) return;
  m_motion = motion;
  m_done = done;
  viewport()->update();
}

void BlockTableArea::layOut() {
  if (m_table == nullptr) return;
  setScale(wantedScale());
  const int width = seenSize().width();
  const CellSize size =
      m_wanted.value_or(m_isLarger && isShort() ? CellSize::Large : TableLayout::fitting(*m_table, width));
  int pitch = TableLayout::filling(*m_table, size, width);
  m_overviewShown = pitch == 0;
  if (m_overviewShown) pitch = std::max(TableLayout::least(size), pitchForNames(size));
  // Names are cut only if the table would not fit because of them. If the table is wider than its view
  // anyway, no name is cut.
  m_layout = TableLayout(*m_table, size, m_overviewShown, nameWidths(), pitch);
  const auto isTooWide = [&] { return !m_overviewShown && m_layout.contentSize().width() > width; };
  for (int less = pitch; isTooWide() && less >= TableLayout::least(size); --less)
    m_layout = TableLayout(*m_table, size, false, nameWidths(), less);
  if (isTooWide()) m_layout = TableLayout(*m_table, size, false, {}, pitch);
  m_layout.fillHeight(seenSize().height());
  m_overview = {};
  m_misses.clear();
  for (const TableRow& row : m_table->rows) m_misses.push_back(firstMiss(row));
  nameParts();
  contentChanged();
}

/// The min pitch at which names of sections fit above their own blocks. The pitch stays below twice the min
/// pitch of the size. Sections of few blocks do not count.
int BlockTableArea::pitchForNames(CellSize size) const {
  constexpr double kFewBlocks = 4;
  const QFontMetrics metrics = nameMetrics();
  double pitch = 0;
  for (const TableRow& row : m_table->rows) {
    for (const TablePart& part : row.parts) {
      const double blocks = double(part.last - part.first) + part.end - part.begin;
      if (blocks >= kFewBlocks)
        pitch = std::max(pitch, (metrics.horizontalAdvance(part.name) + 2 * kSpace) / blocks);
    }
  }
  return std::min(static_cast<int>(std::ceil(pitch)), 2 * TableLayout::least(size) - 1);
}

QFontMetrics BlockTableArea::nameMetrics() const {
  QFont font = theme().smallFont();
  font.setWeight(QFont::DemiBold);
  return QFontMetrics(font);
}

std::vector<std::vector<int>> BlockTableArea::nameWidths() const {
  constexpr int kWidest = 100;
  const QFontMetrics metrics = nameMetrics();
  std::vector<std::vector<int>> widths;
  for (const TableRow& row : m_table->rows) {
    std::vector<int>& own = widths.emplace_back();
    for (const TableSegment& segment : row.segments) {
      // Sections of one segment are side by side, each as wide as its tokens need.
      const auto isAlone = [&segment](const TablePart& part) {
        return part.first == segment.first && part.last + 1 == segment.first + segment.count;
      };
      const auto part = std::find_if(row.parts.begin(), row.parts.end(), isAlone);
      own.push_back(part == row.parts.end() ? 0 : std::min(kWidest, metrics.horizontalAdvance(part->name)));
    }
  }
  return widths;
}

void BlockTableArea::nameParts() {
  const QFontMetrics metrics = nameMetrics();
  const int width = std::max(seenSize().width(), m_layout.contentSize().width());
  m_names.clear();
  m_namesRight = 0;
  for (std::size_t row = 0; row < m_table->rows.size(); ++row) {
    const auto& parts = m_table->rows[row].parts;
    std::vector<NamedBracket> brackets;
    for (std::size_t i = 0; i < parts.size(); ++i)
      brackets.push_back({.place = m_layout.bracket(row, i), .name = parts[i].name});
    std::vector<QString>& texts = m_names.emplace_back();
    for (const BracketName& name : bracketNames(brackets, kTableLabel, width, metrics)) {
      texts.push_back(name.text);
      if (!name.text.isEmpty())
        m_namesRight = std::max(m_namesRight, name.left + metrics.horizontalAdvance(name.text) + 2 * kSpace);
    }
  }
}

void BlockTableArea::setLarger(bool isLarger) {
  if (std::exchange(m_isLarger, isLarger) == isLarger) return;
  layOut();
  if (m_current) reveal(*m_current);
}

bool BlockTableArea::isShort() const {
  constexpr std::size_t kMostCells = 60;
  return std::all_of(m_table->rows.begin(), m_table->rows.end(),
                     [](const TableRow& row) { return row.cells.size() <= kMostCells; });
}

/// The largest scale at which all large cells of the widest row fit, and a row fits into the height.
double BlockTableArea::wantedScale() const {
  constexpr double kMost = 2;
  constexpr double kStep = 0.125;
  if (!m_isLarger) return 1;
  for (double scale = kMost; scale > 1; scale -= kStep) {
    const QSize seen = viewport()->size() / scale;
    if (TableLayout::fitting(*m_table, seen.width()) == CellSize::Large &&
        TableLayout(*m_table, CellSize::Large, false).rowHeight() <= seen.height())
      return scale;
  }
  return 1;
}

void BlockTableArea::setCellSize(std::optional<CellSize> size) {
  if (m_wanted == size) return;
  m_wanted = size;
  layOut();
  if (m_current) reveal(*m_current);
}

void BlockTableArea::zoom(int steps) {
  const int next =
      std::clamp(static_cast<int>(m_layout.size()) - steps, 0, static_cast<int>(CellSize::Strip));
  setCellSize(static_cast<CellSize>(next));
}

void BlockTableArea::reveal(const CellPlace& place) {
  QRect cell = m_layout.cell(place);
  if (cell.isNull()) return;
  // The labels at the left and the overview at the top cover content.
  cell.adjust(-kTableLabel, m_overviewShown ? -kTableOverview - 28 : -28, 0, kNumbersBelow);
  m_keepsRow = place.row == m_ownRow;
  m_revealed = place;
  makeVisible(cell);
}

void BlockTableArea::showRow(std::size_t row) {
  if (m_table == nullptr || row >= m_table->rows.size()) return;
  if (m_ownRow != row) m_overview = {};
  m_ownRow = row;
  m_keepsRow = true;
  if (m_revealed && m_revealed->row != row) m_revealed.reset();
  QScrollBar* const bar = verticalScrollBar();
  const int bottom = m_layout.cell({row, 0}).bottom() + kNumbersBelow;
  bar->setValue(row + 1 == m_table->rows.size() ? bar->maximum() : bottom - seenSize().height());
  viewport()->update();
}

QSize BlockTableArea::contentSize() const {
  if (m_table == nullptr || m_table->rows.empty()) return seenSize();
  const QSize layout = m_layout.contentSize();
  // The last name of a row may extend past its bracket if there is space.
  return {std::max(layout.width(), std::min(seenSize().width(), m_namesRight)), layout.height()};
}

void BlockTableArea::resizeEvent(QResizeEvent* event) {
  layOut();
  ZoomedScroll::resizeEvent(event);
  // The shown row stays visible in less space, unless the user has scrolled away.
  if (m_keepsRow && m_ownRow) showRow(*m_ownRow);
  if (m_revealed) reveal(CellPlace(*m_revealed));
}

QRect BlockTableArea::overviewBar() const {
  return {kTableLabel, 2 * kSpace, std::max(1, seenSize().width() - kTableLabel - 3 * kSpace), 16};
}

void BlockTableArea::scrollByOverview(int x) {
  m_revealed.reset();
  const QRect bar = overviewBar();
  const double share = std::clamp(double(x - bar.left()) / bar.width(), 0.0, 1.0);
  const int content = m_layout.contentSize().width() - kTableLabel;
  const int seen = seenSize().width() - kTableLabel;
  horizontalScrollBar()->setValue(static_cast<int>(share * content) - seen / 2);
}

void BlockTableArea::pressed(const QPoint& place) {
  const QPoint seen = place - offset();
  m_dragging = m_overviewShown && seen.y() < kTableOverview;
  if (m_dragging) {
    scrollByOverview(seen.x());
    return;
  }
  if (seen.x() < kTableLabel) return;
  if (const std::optional<CellPlace> cell = m_layout.at(place)) Q_EMIT chosen(*cell);
}

void BlockTableArea::mouseMoveEvent(QMouseEvent* event) {
  if (m_dragging && event->buttons().testFlag(Qt::LeftButton))
    scrollByOverview(static_cast<int>(event->position().x() / scale()));
}

QString BlockTableArea::tipAt(const QPoint& place) const {
  const QPoint seen = place - offset();
  if (m_table == nullptr || (m_overviewShown && seen.y() < kTableOverview)) return {};
  if (seen.x() < kTableLabel) {
    const auto [first, last] = m_layout.rowsBetween(place.y(), place.y());
    if (first >= last) return {};
    const TableRow& row = m_table->rows[first];
    return (QStringList{row.title, row.subtitle, row.note} + row.extras).join(QLatin1Char('\n'));
  }
  const std::optional<CellPlace> cell = m_layout.at(place);
  if (cell) {
    QString tip = m_tips ? m_tips(*cell) : QString();
    if (m_misses[cell->row] != cell->cell) return tip;
    // The mark below the first miss may have no room for its words.
    const std::int32_t number = m_table->rows[cell->row].cells[cell->cell].facts.number;
    return metricPhrase("first-missing-block", QString::number(number)) + QLatin1Char('\n') + tip;
  }
  // The name above a bracket may be short or missing.
  const auto [first, last] = m_layout.rowsBetween(place.y(), place.y());
  for (std::size_t row = first; row < last; ++row) {
    const std::vector<TablePart>& parts = m_table->rows[row].parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (m_layout.bracket(row, i).contains(place)) return parts[i].name;
    }
  }
  return {};
}

std::optional<CellPlace> BlockTableArea::target(const QKeyEvent& event) const {
  if (m_table == nullptr || m_table->rows.empty()) return std::nullopt;
  const std::size_t rows = m_table->rows.size();
  // If nothing is selected yet, every key starts at the row that is shown.
  const CellPlace from = m_current.value_or(CellPlace{std::min(m_ownRow.value_or(rows - 1), rows - 1), 0});
  const std::size_t cells = m_table->rows[from.row].cells.size();
  if (cells == 0) return std::nullopt;
  const int x = m_layout.cell(from).center().x();
  switch (event.key()) {
    case Qt::Key_Right:
      return m_current ? CellPlace{from.row, std::min(from.cell + 1, cells - 1)} : from;
    case Qt::Key_Left:
      return m_current ? CellPlace{from.row, from.cell == 0 ? 0 : from.cell - 1} : from;
    case Qt::Key_Home:
      return CellPlace{from.row, 0};
    case Qt::Key_End:
      return CellPlace{from.row, cells - 1};
    case Qt::Key_Up:
      return m_current ? m_layout.nearest(from.row == 0 ? 0 : from.row - 1, x) : from;
    case Qt::Key_Down:
      return m_current ? m_layout.nearest(std::min(from.row + 1, rows - 1), x) : from;
    case Qt::Key_PageUp:
      return m_layout.nearest(0, x);
    case Qt::Key_PageDown:
      return m_layout.nearest(rows - 1, x);
    default:
      return std::nullopt;
  }
}

void BlockTableArea::keyPressEvent(QKeyEvent* event) {
  const std::optional<CellPlace> next = target(*event);
  if (!next) {
    ZoomedScroll::keyPressEvent(event);
    return;
  }
  reveal(*next);
  if (next != m_current) Q_EMIT chosen(*next);
}

namespace {

constexpr int kMargin = 3 * kSpace;
constexpr int kBracketZone = 28;  // name, bracket and the gap below it
constexpr int kLinkZone = 36;     // room for links below a row of large cells

int gapOf(CellSize size) {
  switch (size) {
    case CellSize::Large:
      return 8;
    case CellSize::Small:
      return 6;
    case CellSize::Strip:
      break;
  }
  return 3;
}

int widthOf(const BlockTable& table, CellSize size, int pitch) {
  int width = kTableLabel;
  for (const TableRow& row : table.rows) {
    width = std::max(width, kTableLabel + static_cast<int>(row.cells.size()) * pitch +
                                static_cast<int>(row.segments.size()) * gapOf(size) + kMargin);
  }
  return width;
}

}  // namespace

int TableLayout::least(CellSize size) {
  switch (size) {
    case CellSize::Large:
      return 50;
    case CellSize::Small:
      return 24;
    case CellSize::Strip:
      break;
  }
  return 6;
}

CellSize TableLayout::fitting(const BlockTable& table, int width) {
  for (const CellSize size : {CellSize::Large, CellSize::Small}) {
    if (widthOf(table, size, least(size)) <= width) return size;
  }
  return CellSize::Strip;
}

int TableLayout::filling(const BlockTable& table, CellSize size, int width) {
  // Above this pitch, cells of the next size would begin.
  const int most = size == CellSize::Strip ? 3 * TableLayout::least(size) : TableLayout::least(size);
  for (int pitch = most; pitch >= TableLayout::least(size); --pitch) {
    if (widthOf(table, size, pitch) <= width) return pitch;
  }
  return 0;
}

TableLayout::TableLayout(const BlockTable& table, CellSize size, bool overview,
                         const std::vector<std::vector<int>>& names, int pitch)
    : m_size(size),
      m_pitch(pitch > 0 ? pitch : TableLayout::least(size)),
      m_top(kMargin + (overview ? kTableOverview : 0)),
      m_width(widthOf(table, size, m_pitch)) {
  m_rows.reserve(table.rows.size());
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const TableRow& row = table.rows[r];
    Row own;
    own.cells = row.cells.size();
    own.brackets = row.parts;
    int x = kTableLabel;
    for (std::size_t s = 0; s < row.segments.size(); ++s) {
      const TableSegment& segment = row.segments[s];
      own.groups.push_back({segment.first, segment.count, x});
      const int cells = static_cast<int>(segment.count) * m_pitch + gapOf(size);
      const int name = names.empty() ? 0 : names[r][s] + kBetweenNames;
      x += std::max(cells, name);
    }
    m_width = std::max(m_width, x + kMargin);
    m_rows.push_back(std::move(own));
  }
  m_height = m_rows.empty() ? 0 : bottom();
}

void TableLayout::fillHeight(int height) {
  m_extraHeight = 0;
  if (m_rows.empty() || m_size == CellSize::Large) return;
  constexpr int kHighest = 48;
  const int left = height - bottom();
  m_extraHeight = std::clamp(left / static_cast<int>(m_rows.size()), 0, kHighest - cellHeight());
  m_height = bottom();
}

int TableLayout::bottom() const {
  // No links leave the last row. The label of the last row may have a line more than fits beside cells and
  // numbers. Most of this line is in the margin.
  constexpr int kLastLabel = 4;
  const int unused = m_size == CellSize::Large ? kLinkZone - kLastLabel : 0;
  return rowTop(m_rows.size()) - unused + kMargin;
}

int TableLayout::cellHeight() const {
  switch (m_size) {
    case CellSize::Large:
      return 44;
    case CellSize::Small:
      return 22 + m_extraHeight;
    case CellSize::Strip:
      break;
  }
  return 18 + m_extraHeight;
}

int TableLayout::rowHeight() const {
  // The virtual numbers are below the cells, and the space for links is below the numbers.
  return kBracketZone + cellHeight() + 20 + (m_size == CellSize::Large ? kLinkZone : 28);
}

int TableLayout::cellTop(std::size_t row) const {
  return rowTop(row) + kBracketZone;
}

const TableLayout::Group* TableLayout::groupOf(const Row& row, std::size_t cell) const {
  const auto after =
      std::upper_bound(row.groups.begin(), row.groups.end(), cell,
                       [](std::size_t wanted, const Group& group) { return wanted < group.first; });
  return after == row.groups.begin() ? nullptr : &*std::prev(after);
}

QRect TableLayout::cell(const CellPlace& place) const {
  if (place.row >= m_rows.size()) return {};
  const Group* group = groupOf(m_rows[place.row], place.cell);
  if (group == nullptr) return {};
  const int gap = m_size == CellSize::Large ? 4 : m_size == CellSize::Small ? 2 : 0;
  return {group->x + static_cast<int>(place.cell - group->first) * pitch(), cellTop(place.row), pitch() - gap,
          cellHeight()};
}

QRect TableLayout::bracket(std::size_t row, std::size_t part) const {
  if (row >= m_rows.size() || part >= m_rows[row].brackets.size()) return {};
  const TablePart& own = m_rows[row].brackets[part];
  const int gap = m_size == CellSize::Strip ? 1 : m_size == CellSize::Small ? 2 : 4;
  const auto within = [this](double share) { return static_cast<int>(std::lround(share * pitch())); };
  const int left = cell({row, own.first}).left() + within(own.begin);
  const int right = cell({row, own.last}).left() + within(own.end) - gap;
  return {left, rowTop(row), std::max(2, right - left), kBracketZone - kSpace};
}

std::optional<CellPlace> TableLayout::at(const QPoint& place) const {
  const int y = place.y() - m_top;
  if (y < 0) return std::nullopt;
  const auto row = static_cast<std::size_t>(y / rowHeight());
  if (row >= m_rows.size()) return std::nullopt;
  const std::optional<CellPlace> found = nearest(row, place.x());
  if (!found) return std::nullopt;
  // The gap beside a cell and the number below it belong to it.
  const QRect own = cell(*found).adjusted(0, 0, m_size == CellSize::Strip ? 0 : 4, 16);
  return own.contains(place) ? found : std::nullopt;
}

std::optional<CellPlace> TableLayout::nearest(std::size_t row, int x) const {
  if (row >= m_rows.size() || m_rows[row].groups.empty()) return std::nullopt;
  const auto& groups = m_rows[row].groups;
  auto after = std::upper_bound(groups.begin(), groups.end(), x,
                                [](int wanted, const Group& group) { return wanted < group.x; });
  const Group& group = after == groups.begin() ? groups.front() : *std::prev(after);
  const int index = std::clamp((x - group.x) / pitch(), 0, static_cast<int>(group.count) - 1);
  return CellPlace{row, group.first + static_cast<std::size_t>(index)};
}

std::pair<std::size_t, std::size_t> TableLayout::between(std::size_t row, int left, int right) const {
  const auto first = nearest(row, left);
  const auto last = nearest(row, right);
  if (!first || !last) return {0, 0};
  return {first->cell, std::min(last->cell + 1, m_rows[row].cells)};
}

std::pair<std::size_t, std::size_t> TableLayout::rowsBetween(int top, int bottom) const {
  const int height = rowHeight();
  const int first = std::max(0, (top - m_top) / height);
  const int last = std::max(0, (bottom - m_top) / height + 1);
  return {std::min(static_cast<std::size_t>(first), m_rows.size()),
          std::min(static_cast<std::size_t>(last), m_rows.size())};
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/prediction_view.h"

#include "ui/views/common/number_text.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/prediction/prediction_model.h"
#include "ui/views/prediction/prediction_places.h"
#include "ui/views/prediction/prediction_table.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QEvent>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kNameColumns = 2;  ///< columns that name a layout

}  // namespace

LayoutPage::LayoutPage(QWidget* parent)
    : QWidget(parent),
      m_note(new QLabel(this)),
      m_view(new TableView(tr("Layouts side by side"), RowOrder::Sortable, this)),
      m_rows(new PaintedTableModel(this)) {
  m_note->setWordWrap(true);
  m_note->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 2 * kSpace);
  m_view->setModel(m_rows);
  m_view->horizontalHeader()->setStretchLastSection(false);
  connect(m_view->model(), &QAbstractItemModel::layoutChanged, this, &LayoutPage::spanProblems);
  setFocusProxy(m_view);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_note);
  column->addWidget(m_view, 1);
}

void LayoutPage::showTable(LayoutTable table, const Theme& theme) {
  if (table == m_table && m_shown == theme) return;
  m_table = std::move(table);
  m_shown = theme;
  m_view->setTheme(theme);
  m_view->horizontalHeader()->setFont(theme.smallFont());
  // Uses a style sheet, because the window's style sheet would win over a palette.
  m_note->setStyleSheet(
      QStringLiteral("color: %1; font-weight: normal").arg(theme.color(Role::TextSecond).name()));
  m_note->setFont(theme.smallFont());
  m_note->setText(m_table.note);
  m_rows->setTable(paintedLayouts(m_table));
  spanProblems();
  m_view->resizeColumnsToContents();
}

/// Makes each problem span all number columns of its row.
void LayoutPage::spanProblems() {
  m_view->clearSpans();
  for (int r = 0; r < m_rows->rowCount(); ++r) {
    const auto row = static_cast<std::size_t>(m_view->rowOf(m_view->model()->index(r, 0)));
    if (!m_table.rows[row].problem.isEmpty())
      m_view->setSpan(r, kNameColumns, 1, m_rows->columnCount() - kNameColumns);
  }
}

namespace {

using experiment::LayoutComparison;
using experiment::LayoutRow;

constexpr std::array kLayoutMetrics = {"prompt-tokens",    "padding-tokens", "padding-blocks",
                                       "delimiter-tokens", "cropped-tokens", "added-tokens"};

struct Column {
  QString title;
  QString tip;
};

std::vector<Column> columnsOf(bool hasOrder) {
  std::vector<Column> columns{{tr("Layout"), tr("Layout of prompts")},
                              {metricShortTitle("block-size"), metricExplanation("block-size")}};
  for (const char* const id : kLayoutMetrics)
    columns.push_back({metricShortTitle(id), metricExplanation(id)});
  columns.push_back({metricShortTitle("blocks"), metricExplanation("blocks")});
  columns.push_back({metricShortTitle("computed-tokens"),
                     tr("%1 The cache is empty at first.").arg(metricExplanation("computed-tokens"))});
  if (hasOrder) {
    columns.push_back({tr("Swapped, full blocks"),
                       tr("%1 A second run has the children of every plus in reversed order. The cache "
                          "keeps full blocks only.")
                           .arg(metricExplanation("computed-tokens"))});
    columns.push_back(
        {tr("Swapped"), tr("Like “Swapped, full blocks”, but the cache also keeps partial blocks.")});
  }
  return columns;
}

LayoutTableRow rowOf(const LayoutRow& own, bool hasOrder) {
  const auto number = [](std::int64_t count) { return QString::number(count); };
  LayoutTableRow row;
  row.cells = {QString::fromUtf8(layout::infoOf(own.layout).name), number(own.blockSize)};
  if (own.problem) {
    row.problem = QString::fromStdString(*own.problem);
    return row;
  }
  for (const std::string_view id : kLayoutMetrics) {
    const bool isItself = id == "added-tokens" && own.layout == layout::Layout::Exact;
    row.cells << (isItself ? QString() : metricText(id, own.counts));
  }
  row.cells << number(own.blocks) << rangeText(own.computed);
  if (hasOrder) row.cells << rangeText(own.swappedFull) << rangeText(own.swapped);
  return row;
}

}  // namespace

LayoutTable layoutTable(const ViewInput& input) {
  LayoutTable table;
  table.gap = predictionTable(input, Against::Empty).gap;
  if (!table.gap.isEmpty()) return table;
  if (!input.prediction.newest || !input.prediction.newest->layouts) {
    table.gap = tr("Comparing the layouts…");
    return table;
  }
  const LayoutComparison& comparison = *input.prediction.newest->layouts;
  for (const Column& column : columnsOf(comparison.hasOrder)) {
    table.columns << column.title;
    table.tips << column.tip;
  }
  const workbench::RunSettings& settings = input.document->settings;
  for (const LayoutRow& own : comparison.rows) {
    LayoutTableRow row = rowOf(own, comparison.hasOrder);
    row.isChosen = settings.layout == layout::infoOf(own.layout).name && settings.blockSize == own.blockSize;
    table.rows.push_back(std::move(row));
  }
  table.note = tr("Policy %1, each layout with an empty cache. Exact means equal to a full prefill of the "
                  "layout's tokens. Only the exact layout has the text of the chat template.")
                   .arg(QString::fromStdString(input.prediction.newest->policy));
  if (comparison.hasAnswers) table.note += tr(" Every answer is assumed to have its max length.");
  return table;
}

QString layoutTableCsv(const LayoutTable& table) {
  if (table.rows.empty()) return {};
  QString csv = csvLine(table.columns);
  for (const LayoutTableRow& row : table.rows) csv += csvLine(row.cells);
  return csv;
}

PaintedTable paintedLayouts(const LayoutTable& table) {
  PaintedTable painted{.headers = {table.columns.begin(), table.columns.end()},
                       .shares = {},
                       .rows = {},
                       .headerHelps = {table.tips.begin(), table.tips.end()}};
  for (qsizetype i = 0; i < table.columns.size(); ++i) painted.shares.push_back(i == 0 ? 12 : 10);
  for (const LayoutTableRow& row : table.rows) {
    std::vector<PaintedCell>& cells = painted.rows.emplace_back();
    for (qsizetype i = 0; i < table.columns.size(); ++i) {
      QString text = row.cells.value(i);
      if (i == 0 && row.isChosen) text = tr("%1 (chosen)").arg(text);
      if (i == kNameColumns && !row.problem.isEmpty()) text = row.problem;
      cells.push_back({.text = text,
                       .mono = i > 0,
                       .bold = row.isChosen,
                       .isRight = i > 0,
                       .help = table.tips.value(i),
                       .raw = leadingNumber(text)});
    }
  }
  return painted;
}

namespace {

/// With more rows than this, steps are collapsed, so that the cost of each step is visible first.
constexpr int kMostOpenRows = 60;
constexpr int kNameWidth = 150;
constexpr int kNumberWidth = 76;
constexpr int kComputedWidth = 104;
constexpr int kLeastName = 84;
constexpr int kLeastBlocks = 48;
constexpr int kLayoutsItem = 2;  ///< item of the box in the title bar
constexpr int kLowDock = 340;    // pixels
constexpr int kWideDock = 560;
constexpr int kPlacesWidth = 290;

/// The computed tokens, with the name of the place if it is not the embedded cache.
QString summaryOf(const PredictionTable& table) {
  const QString computed =
      metricPhrase("computed-tokens", changedText(table.computedBefore, table.totals.computed));
  const PredictionPlace& place = table.places[table.shown];
  if (!place.problem.isEmpty()) return {};
  return table.shown == 0 ? computed : PredictionView::tr("%1: %2").arg(place.name, computed);
}

}  // namespace

PredictionView::PredictionView(QWidget* parent)
    : RunView(parent, InputPart::Prediction, Pace::EveryInput),
      m_simulators(new SimulatorAsker(this)),
      m_head(new QBoxLayout(QBoxLayout::TopToBottom)),
      m_header(new PredictionHeader(this)),
      m_buttonRow(new QHBoxLayout),
      m_footRow(new QHBoxLayout),
      m_blocks(new QPushButton(tr("Show blocks as a run"), this)),
      m_places(new PlaceList(this)),
      m_body(new QBoxLayout(QBoxLayout::TopToBottom)),
      m_tree(new QTreeView(this)),
      m_model(new PredictionModel(this)),
      m_delegate(new PredictionDelegate(*m_model, this)),
      m_layouts(new LayoutPage(this)) {
  setAccessibleName(tr("Prediction"));
  setFocusProxy(m_tree);
  m_tree->setAccessibleName(tr("Steps of the next run and the segments of their prompts"));
  m_tree->setModel(m_model);
  m_tree->setItemDelegate(m_delegate);
  m_tree->setFrameShape(QFrame::NoFrame);
  m_tree->setUniformRowHeights(true);
  m_tree->setIndentation(4 * kSpace);
  m_tree->setAllColumnsShowFocus(true);
  m_tree->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_tree->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  QHeaderView* header = m_tree->header();
  header->setHighlightSections(false);
  header->setStretchLastSection(true);
  header->setMinimumSectionSize(8 * kSpace);
  m_tree->viewport()->installEventFilter(this);
  connect(m_tree, &QTreeView::clicked, this, &PredictionView::choose);
  connect(m_tree, &QTreeView::activated, this, &PredictionView::choose);
  const auto remember = [this](const QModelIndex& index, bool isClosed) {
    if (m_filling) return;
    if (isClosed)
      m_closed.insert(m_model->node(index));
    else
      m_closed.erase(m_model->node(index));
  };
  connect(m_tree, &QTreeView::collapsed, this, [remember](const QModelIndex& i) { remember(i, true); });
  connect(m_tree, &QTreeView::expanded, this, [remember](const QModelIndex& i) { remember(i, false); });

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  m_head->addWidget(m_header, 1);
  m_head->addLayout(m_buttonRow);
  m_buttonRow->addStretch(1);
  m_footRow->addWidget(m_blocks);
  m_footRow->addStretch(1);
  layout->addLayout(m_head);
  m_blocks->setToolTip(
      tr("Add a predicted run to the list of runs. The predicted run shows this server's cache for the "
         "earlier queries and this query, block by block. Nothing is sent or computed."));
  m_blocks->hide();
  connect(m_blocks, &QPushButton::clicked, this, [this] { trace(); });
  connect(m_places, &PlaceList::blocksWanted, this, [this](const QString& id) { trace(id); });
  connect(m_simulators, &SimulatorAsker::traced, this, [this](const auto& prediction) {
    showButton();
    Q_EMIT predicted(prediction);
  });
  m_body->setSpacing(0);
  m_body->addWidget(m_places);
  m_body->addWidget(m_tree, 1);
  layout->addLayout(m_body, 1);
  layout->addWidget(m_layouts, 1);
  layout->addLayout(m_footRow);
  m_layouts->hide();
  m_header->hide();
  m_places->hide();
  m_tree->hide();
  connect(m_places, &PlaceList::placeChosen, this, &PredictionView::showPlace);
  connect(m_simulators, &SimulatorAsker::answered, this, [this] {
    if (input() != nullptr) refresh();
  });

  QHBoxLayout* row = titleRow();
  m_box = new QComboBox(row->parentWidget());
  m_box->setAccessibleName(tr("Cache of the prediction, or layouts"));
  m_box->setToolTip(tr("Predict with the current cache or an empty cache, or compare the layouts"));
  m_box->addItem(tr("current cache"));
  m_box->addItem(tr("empty cache"));
  m_box->addItem(tr("layouts side by side"));
  row->addWidget(m_box);
  connect(m_box, &QComboBox::currentIndexChanged, this, [this](int index) {
    showLayouts(index == kLayoutsItem);
    if (index < kLayoutsItem) setAgainst(index == 0 ? Against::Present : Against::Empty);
  });
}

void PredictionView::showLayouts(bool shows) {
  if (shows == m_showsLayouts) return;
  m_showsLayouts = shows;
  if (m_box) m_box->setCurrentIndex(shows ? kLayoutsItem : m_against == Against::Present ? 0 : 1);
  m_layouts->setVisible(shows);
  setFocusProxy(shows ? static_cast<QWidget*>(m_layouts) : m_tree);
  m_shown.reset();
  Q_EMIT layoutsWanted(shows);
  if (input() != nullptr) refresh();
}

void PredictionView::refreshLayouts() {
  m_header->hide();
  m_places->hide();
  m_tree->hide();
  m_layouts->showTable(layoutTable(*input()), theme());
  m_layouts->setVisible(m_layouts->table().gap.isEmpty());
  showButton();
  Q_EMIT summaryChanged({});
  update();
}

void PredictionView::showPlace(const QString& id) {
  if (id == m_place) return;
  m_place = id;
  if (input() != nullptr) refresh();
}

bool PredictionView::canTrace() const {
  if (input() == nullptr || m_showsLayouts || m_simulators->isTracing()) return false;
  const PredictionTable& table = m_model->table();
  return table.gap.isEmpty() && table.shown > 0 && table.shown < table.places.size() &&
         ui::canTrace(table.places[table.shown]);
}

void PredictionView::trace() {
  if (canTrace()) trace(m_model->table().places[m_model->table().shown].id);
}

void PredictionView::trace(const QString& place) {
  m_simulators->trace(place.toStdString(), m_against == Against::Empty);
  showButton();
}

void PredictionView::showButton() {
  const bool isShown = canTrace() || m_simulators->isTracing();
  m_blocks->setVisible(isShown && !m_showsLayouts);
  placeParts();
  m_blocks->setEnabled(canTrace());
  if (std::exchange(m_couldTell, canTrace()) != m_couldTell) Q_EMIT commandsChanged();
}

void PredictionView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  placeParts();
}

bool PredictionView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_tree->viewport() && event->type() == QEvent::Resize) fitColumns();
  return RunView::eventFilter(watched, event);
}

int PredictionView::leastWidth(int column) const {
  constexpr int kBeside = 4 * kSpace;
  constexpr int kMostMeasured = 100;  // rows of a step, and steps
  if (column == PredictionModel::Name) return kLeastName;
  const QString title = m_model->headerData(column, Qt::Horizontal).toString();
  const int own = m_tree->header()->fontMetrics().horizontalAdvance(title) + kBeside;
  if (column == PredictionModel::Blocks) return std::max(own, kLeastBlocks);
  const QFontMetrics metrics(theme().monoFont());
  int widest = 0;
  const auto measure = [&](const QModelIndex& row) {
    const QString text = m_model->isSentence(row) ? QString() : row.siblingAtColumn(column).data().toString();
    widest = std::max(widest, metrics.horizontalAdvance(text) + kBeside);
  };
  for (int step = 0; step < std::min(m_model->rowCount(), kMostMeasured); ++step) {
    const QModelIndex above = m_model->index(step, PredictionModel::Name);
    measure(above);
    for (int row = 0; row < std::min(m_model->rowCount(above), kMostMeasured); ++row)
      measure(m_model->index(row, PredictionModel::Name, above));
  }
  return std::max(own, widest);
}

void PredictionView::fitColumns() {
  using Model = PredictionModel;
  if (m_model->rowCount() == 0) return;
  std::vector<int> widths(Model::ColumnCount, 0);
  std::vector<int> least = widths;
  for (int column = 0; column < Model::ColumnCount; ++column) {
    if (!m_model->hasCounts(static_cast<Model::Column>(column))) continue;
    const auto i = static_cast<std::size_t>(column);
    least[i] = leastWidth(column);
    const int usual = column == Model::Name       ? kNameWidth
                      : column == Model::Computed ? kComputedWidth
                                                  : kNumberWidth;
    widths[i] = std::max(usual, least[i]);
  }
  const int room = m_tree->viewport()->width();
  const auto needed = [](const std::vector<int>& all) { return std::accumulate(all.begin(), all.end(), 0); };
  if (needed(widths) > room) {
    widths = least;
    for (const int column : {Model::LastRun, Model::Base, Model::Tokens, Model::Relocated}) {
      if (needed(widths) > room) widths[static_cast<std::size_t>(column)] = 0;
    }
    // The names get the rest.
    widths[Model::Name] = std::clamp(kLeastName + room - needed(widths), kLeastName, kNameWidth);
  }
  // The user's own widths stay until others are needed.
  if (std::exchange(m_widths, widths) == widths) return;
  for (int column = 0; column < Model::ColumnCount; ++column) {
    const int width = widths[static_cast<std::size_t>(column)];
    m_tree->setColumnHidden(column, width == 0);
    if (width > 0) m_tree->header()->resizeSection(column, width);
  }
}

/// In a low dock, the places are beside the prediction, and the button is beside the header. Otherwise the
/// button is below everything, so that the list of places stays where it is when the button appears.
void PredictionView::placeParts() {
  const bool isLow = height() < kLowDock && width() >= kWideDock;
  for (QBoxLayout* both : {m_head, m_body})
    both->setDirection(isLow ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  QHBoxLayout* const row = isLow ? m_buttonRow : m_footRow;
  QHBoxLayout* const other = isLow ? m_footRow : m_buttonRow;
  if (row->indexOf(m_blocks) < 0) {
    other->removeWidget(m_blocks);
    row->insertWidget(0, m_blocks);
  }
  // Without the button, its row has no margins.
  other->setContentsMargins(0, 0, 0, 0);
  if (m_blocks->isHidden())
    row->setContentsMargins(0, 0, 0, 0);
  else
    row->setContentsMargins(isLow ? 0 : 3 * kSpace, isLow ? 0 : kSpace, 3 * kSpace, isLow ? 0 : kSpace);
  m_places->setNarrow(isLow);
  m_places->setMaximumWidth(isLow ? kPlacesWidth : QWIDGETSIZE_MAX);
  m_places->setMinimumWidth(isLow ? kPlacesWidth : 0);
  m_places->setMaximumHeight(isLow ? QWIDGETSIZE_MAX : m_places->sizeHint().height());
}

void PredictionView::setAgainst(Against against) {
  if (against == m_against) return;
  m_against = against;
  if (m_box) m_box->setCurrentIndex(against == Against::Present ? 0 : 1);
  if (input() != nullptr) refresh();
}

QString PredictionView::emptyText() const {
  return m_showsLayouts ? m_layouts->table().gap : m_model->table().gap;
}

PredictionTable PredictionView::table() const {
  PredictionTable table = predictionTable(*input(), m_against, m_place, m_simulators->newest().get());
  table.isPending = table.isPending || (m_simulators->isPending() && table.shown != 0);
  return table;
}

void PredictionView::refresh() {
  m_simulators->useServers(input()->knownServers);
  if (m_showsLayouts) {
    refreshLayouts();
    return;
  }
  m_simulators->ask(*input());
  PredictionTable table = this->table();
  const bool isSame = table == m_model->table() && m_shown == input()->theme;
  if (!isSame) fill(std::move(table));
  showButton();
  showSelected();
}

void PredictionView::fill(PredictionTable table) {
  if (m_shown != input()->theme) m_tree->setStyleSheet(tableStyle(input()->theme));
  m_shown = input()->theme;
  m_filling = true;
  m_delegate->setTheme(theme());
  m_model->setTable(std::move(table), theme());
  const PredictionTable& now = m_model->table();
  m_header->show(&now, theme());
  m_header->setVisible(now.gap.isEmpty());
  m_places->showPlaces(now, theme());
  m_places->setVisible(now.places.size() > 1);
  m_tree->setVisible(now.gap.isEmpty());
  placeParts();
  fitColumns();
  arrange();
  m_filling = false;
  Q_EMIT summaryChanged(now.gap.isEmpty() ? summaryOf(now) : QString());
  update();
}

void PredictionView::arrange() {
  int rows = m_model->rowCount();
  for (int row = 0; row < m_model->rowCount(); ++row) rows += m_model->rowCount(m_model->index(row, 0));
  for (int row = 0; row < m_model->rowCount(); ++row) {
    const QModelIndex step = m_model->index(row, 0);
    const bool isOpen = rows <= kMostOpenRows && !m_closed.contains(m_model->node(step));
    m_tree->setExpanded(step, isOpen);
    for (int child = 0; m_model->isSentence(m_model->index(child, 0, step)); ++child)
      m_tree->setFirstColumnSpanned(child, step, true);
  }
}

void PredictionView::showSelected() {
  const QModelIndex wanted = m_model->indexOf(input()->selection.currentNode());
  if (!wanted.isValid()) {
    m_tree->selectionModel()->clear();
    return;
  }
  // Several rows can belong to one node; the clicked row stays current.
  const QModelIndex now = m_tree->currentIndex();
  if (now.isValid() && m_tree->selectionModel()->isRowSelected(now.row(), now.parent()) &&
      m_model->node(now) == m_model->node(wanted))
    return;
  m_tree->setCurrentIndex(wanted);
}

void PredictionView::choose(const QModelIndex& index) {
  const document::NodeId node = m_model->node(index);
  if (input() == nullptr || node == document::kNoNode) return;
  Selection selection = input()->selection;
  selection.nodes = {node};
  Q_EMIT selectionWanted(selection);
}

QString PredictionView::csv() const {
  if (input() == nullptr) return {};
  return m_showsLayouts ? layoutTableCsv(layoutTable(*input())) : predictionCsv(table());
}

void PredictionView::finish() {
  if (input() == nullptr) return;
  refresh();
  m_simulators->finish();
  refresh();
}

void PredictionView::paintTo(QPainter& painter, const QSize& size) {
  if (input() == nullptr || !table().gap.isEmpty()) {
    painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
    const QString text = input() == nullptr ? QString() : table().gap;
    paintEmptyText(painter, QRect(QPoint(), size), text, theme());
    return;
  }
  refresh();
  if (m_showsLayouts) {
    const LayoutTable table = layoutTable(*input());
    if (table.gap.isEmpty())
      paintTableInto(painter, size, paintedLayouts(table), theme());
    else
      paintEmptyText(painter, QRect(QPoint(), size), table.gap, theme());
    return;
  }
  RunView::paintTo(painter, size);
}

ViewInfo predictionRow() {
  return {.id = QStringLiteral("prediction"),
          .title = tr("Prediction"),
          .help = tr("The predicted cache hits of the next run"),
          .make = makeViewOf<PredictionView>,
          .places = {{LayoutId::Explain, Room::Low, Room::Low, 0, 1, 3, 0},
                     {LayoutId::Explain, Room::Middle, Room::Large, 0, 2, 2, 0}},
          .commands = {QStringLiteral("run.show-predicted")}};
}

}  // namespace spanscope::ui

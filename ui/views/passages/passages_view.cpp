// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/passages/passages_view.h"

#include "engine/query/node_parts.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/trace/event_fields.h"
#include "engine/workbench/document/edits.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <string_view>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRow = 24;

}  // namespace

PassagesView::PassagesView(QWidget* parent)
    : RunView(parent), m_list(new PassageListModel(this)), m_table(new QTableView(this)) {
  setAccessibleName(tr("Passages"));
  m_table->setObjectName(QStringLiteral("passages"));
  m_table->setAccessibleName(tr("Retrieved passages"));
  m_table->setAccessibleDescription(tr("For the next run, P pins the passage, and D drops the passage."));
  m_table->setModel(m_list);
  showWholeRows(*m_table, kRow);
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  QHeaderView* header = m_table->horizontalHeader();
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->resizeSection(PassageListModel::State, 144);
  header->resizeSection(PassageListModel::Rank, 48);
  header->resizeSection(PassageListModel::Score, 68);
  header->resizeSection(PassageListModel::Text, 320);
  header->resizeSection(PassageListModel::Source, 156);
  m_table->hide();
  m_table->installEventFilter(this);
  connect(m_table, &QWidget::customContextMenuRequested, this, &PassagesView::showMenu);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &PassagesView::showControls);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
  makeControls();
}

void PassagesView::makeControls() {
  QHBoxLayout* row = titleRow();
  const auto button = [&](const QString& text, const QString& help, document::PassageMark mark) {
    auto* made = new QToolButton(row->parentWidget());
    made->setText(text);
    made->setToolTip(help);
    made->setAutoRaise(true);
    made->setCheckable(true);
    row->addWidget(made);
    connect(made, &QToolButton::clicked, this, [this, mark] {
      toggleMark(mark);
      showControls();
    });
    return made;
  };
  m_pin = button(tr("Pin"), tr("Always put this passage into the prompt (P)"), document::PassageMark::Pinned);
  m_drop =
      button(tr("Drop"), tr("Never put this passage into the prompt (D)"), document::PassageMark::Dropped);
  m_ranking = new QComboBox(row->parentWidget());
  m_ranking->setAccessibleName(tr("Ranked by"));
  m_ranking->setToolTip(
      tr("Rank passages of the next run by shared words (BM25), by model vectors, or by both "
         "(reciprocal rank fusion)"));
  m_ranking->addItem(tr("Ranked automatically"), QStringLiteral("auto"));
  m_ranking->addItem(tr("Ranked by words"), QStringLiteral("lexical"));
  m_ranking->addItem(tr("Ranked by vectors"), QStringLiteral("embedding"));
  m_ranking->addItem(tr("Ranked by both"), QStringLiteral("hybrid"));
  row->addWidget(m_ranking);
  m_count = new QSpinBox(row->parentWidget());
  m_count->setAccessibleName(tr("Passages of an augment"));
  m_count->setToolTip(tr("Set the max passages of an augment for the next run"));
  m_count->setRange(1, retrieve::kMaxPassages);
  m_count->setSuffix(tr(" passages"));
  m_count->setKeyboardTracking(false);
  row->addWidget(m_count);
  for (QWidget* field : {static_cast<QWidget*>(m_ranking), static_cast<QWidget*>(m_count)})
    new DocumentUndo(
        field, [this] { return model(); }, UndoHistory::Settings);
  connect(m_ranking, &QComboBox::activated, this, [this] {
    changeSettings(tr("Ranking of passages"), [this](document::RunSettings& settings) {
      settings.ranking = m_ranking->currentData().toString().toStdString();
    });
  });
  connect(m_count, &QSpinBox::valueChanged, this, [this](int count) {
    changeSettings(tr("Number of passages"),
                   [count](document::RunSettings& settings) { settings.passages = count; });
  });
  showControls();
}

void PassagesView::setModel(DocumentModel* model) {
  RunView::setModel(model);
  showControls();
}

void PassagesView::refresh() {
  PassagesContent content = passagesContent(*input());
  if (m_shown != input()->theme) {
    m_shown = input()->theme;
    m_table->setStyleSheet(tableStyle(input()->theme));
    m_list->setTheme(input()->theme);
  }
  const QString summary = passagesSummary(content);
  m_table->setVisible(!content.rows.empty());
  m_list->setContent(std::move(content));
  showControls();
  Q_EMIT summaryChanged(summary);
  update();
}

std::optional<PassageRow> PassagesView::currentRow() const {
  const QModelIndex index = m_table->currentIndex();
  if (!index.isValid()) return std::nullopt;
  return m_list->content().rows[static_cast<std::size_t>(index.row())];
}

void PassagesView::showControls() {
  if (!m_ranking || !m_count || !m_pin || !m_drop) return;
  const std::optional<PassageRow> row = currentRow();
  const bool canMark = row.has_value() && m_list->content().canMark && model() != nullptr;
  m_pin->setEnabled(canMark);
  m_drop->setEnabled(canMark);
  m_pin->setChecked(canMark && row->mark == document::PassageMark::Pinned);
  m_drop->setChecked(canMark && row->mark == document::PassageMark::Dropped);
  m_ranking->setEnabled(model() != nullptr);
  m_count->setEnabled(model() != nullptr);
  if (model() == nullptr) return;
  const document::RunSettings& settings = model()->document().settings;
  const QSignalBlocker quiet(m_count);
  m_count->setValue(settings.passages);
  m_ranking->setCurrentIndex(m_ranking->findData(QString::fromStdString(settings.ranking)));
}

void PassagesView::changeSettings(const QString& name,
                                  const std::function<void(document::RunSettings&)>& change) {
  if (model() == nullptr) return;
  model()->change(name, [&](document::Document& document) { change(document.settings); });
}

void PassagesView::toggleMark(document::PassageMark mark) {
  const std::optional<PassageRow> row = currentRow();
  if (!row || model() == nullptr || !m_list->content().canMark) return;
  const bool isPin = mark == document::PassageMark::Pinned;
  const bool isSet = row->mark == mark;
  const QString name = isSet   ? tr("Use the rank of the passage")
                       : isPin ? tr("Pin passage")
                               : tr("Drop passage");
  model()->change(name, [&](document::Document& document) {
    document::setPassageMark(document, m_list->content().node, row->hash.toStdString(),
                             isSet ? std::nullopt : std::optional(mark));
  });
}

void PassagesView::showMenu(const QPoint& at) {
  const std::optional<PassageRow> row = currentRow();
  if (!row || !m_list->content().canMark || model() == nullptr) return;
  QMenu menu(this);
  const auto add = [&](const QString& text, document::PassageMark mark) {
    QAction* action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(row->mark == mark);
    connect(action, &QAction::triggered, this, [this, mark] { toggleMark(mark); });
  };
  add(tr("Always in the prompt (pin)"), document::PassageMark::Pinned);
  add(tr("Never in the prompt (drop)"), document::PassageMark::Dropped);
  menu.exec(m_table->viewport()->mapToGlobal(at));
}

bool PassagesView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool isPlain = key->modifiers() == Qt::NoModifier;
    if (isPlain && (key->key() == Qt::Key_P || key->key() == Qt::Key_D)) {
      toggleMark(key->key() == Qt::Key_P ? document::PassageMark::Pinned : document::PassageMark::Dropped);
      return true;
    }
  }
  return RunView::eventFilter(watched, event);
}

QString PassagesView::emptyText() const {
  return m_list->content().rows.empty() ? whatWillStandHere() : QString();
}

QString PassagesView::whatWillStandHere() const {
  if (m_list->content().isAsked) {
    const QString key = input() == nullptr ? QString() : input()->keyHint(QStringLiteral("run.run"));
    return tr("No run has searched for this augment yet. Run the query%1 to see the passages.").arg(key);
  }
  return tr("Select an augment of a query that has run. Its passages and their scores appear here.");
}

QString PassagesView::csv() const {
  if (input() == nullptr) return {};
  const PassagesContent content = passagesContent(*input());
  if (content.rows.empty()) return {};
  QString text = QStringLiteral("state,rank,score,found by,source,text\n");
  for (const PassageRow& row : content.rows) {
    const bool isRanked = row.rank != 0;
    text +=
        csvLine({PassageListModel::stateText(row), isRanked ? QString::number(row.rank) : QString(),
                 isRanked ? QString::number(row.score, 'g', 9) : QString(), row.found, row.source, row.text});
  }
  return text;
}

PaintedTable PassagesView::painted(const PassagesContent& content) const {
  PaintedTable table{
      .headers = {tr("State"), tr("Rank"), tr("Score"), tr("Text"), tr("Source"), tr("Found by")},
      .shares = {5, 2, 3, 16, 6, 6},
      .rows = {}};
  PassageListModel list;
  list.setContent(content);
  for (int row = 0; row < list.rowCount(); ++row) {
    const auto text = [&](int column) { return list.index(row, column).data().toString(); };
    const PassageRow& entry = content.rows[static_cast<std::size_t>(row)];
    table.rows.push_back(
        {{text(PassageListModel::State), PassageListModel::stateInk(entry), false},
         {text(PassageListModel::Rank), Role::TextSecond, true},
         {text(PassageListModel::Score), Role::TextSecond, true},
         {text(PassageListModel::Text), entry.inPrompt ? Role::Text : Role::TextSecond, false},
         {text(PassageListModel::Source), Role::TextSecond, false},
         {text(PassageListModel::Found), Role::TextSecond, true}});
  }
  return table;
}

void PassagesView::paintTo(QPainter& painter, const QSize& size) {
  const PassagesContent content = input() == nullptr ? PassagesContent() : passagesContent(*input());
  if (!content.rows.empty()) {
    paintTableInto(painter, size, painted(content), theme());
    return;
  }
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  paintEmptyText(painter, QRect(QPoint(), size), whatWillStandHere(), theme());
}

ViewInfo passagesRow() {
  return {
      .id = QStringLiteral("passages"),
      .title = tr("Passages"),
      .help = tr("The passages of the selected augment, their scores, and which passages are in the prompt"),
      .make = makeViewOf<PassagesView>,
      .places = {{LayoutId::Explain, Room::Low, Room::Middle, 1, 1, 2, 0},
                 {LayoutId::Explain, Room::Full, Room::Large, 1, 1, 1, 0}}};
}

namespace {

QString foundBy(const trace::PassageInfo& passage) {
  QStringList parts;
  if (passage.lexicalRank > 0)
    parts << tr("words %1 (%2)").arg(passage.lexicalRank).arg(scoreText(passage.lexicalScore));
  if (passage.embeddingRank > 0)
    parts << tr("vectors %1 (%2)").arg(passage.embeddingRank).arg(scoreText(passage.embeddingScore));
  return parts.join(QStringLiteral(" · "));
}

QString sourceOf(const trace::PassageInfo& passage) {
  const QString name = QString::fromStdString(passage.source);
  return passage.place.empty() ? name
                               : QStringLiteral("%1, %2").arg(name, QString::fromStdString(passage.place));
}

/// A retrieval: the run, and the augment's entry in it.
struct Found {
  RunId run = 0;
  document::NodeId node = document::kNoNode;
  const trace::PassagesRetrieved* retrieved = nullptr;
};

/// The retrieval of `wanted`, or of any augment, in the last run that has a retrieval.
std::optional<Found> lastOf(const ViewInput& input, std::optional<document::NodeId> wanted) {
  std::optional<Found> last;
  for (const auto& [id, run] : input.state().progress().runs) {
    if (!input.paths.contains(id)) continue;
    for (const auto& [path, retrieved] : run.retrieved) {
      const document::NodeId node = input.nodeOf(id, path);
      if (wanted && node != *wanted) continue;
      last = Found{.run = id, .node = node, .retrieved = &*retrieved};
      break;
    }
  }
  return last;
}

bool isAugment(const document::Document& document, document::NodeId id) {
  const document::DocumentNode* node = document.find(id);
  return node != nullptr && query::documentOf(node->own) != nullptr;
}

}  // namespace

PassagesContent passagesContent(const ViewInput& input) {
  PassagesContent content;
  const document::NodeId selected = input.selection.currentNode();
  std::optional<Found> found;
  if (selected != document::kNoNode) found = lastOf(input, selected);
  if (!found && isAugment(*input.document, selected)) {
    content.isAsked = true;
    return content;
  }
  if (!found) found = lastOf(input, std::nullopt);
  if (!found) return content;

  content.node = found->node;
  content.run = found->run;
  content.question = QString::fromStdString(found->retrieved->question);
  const std::string_view ranking = trace::enumName(found->retrieved->ranking);
  content.ranking = QString::fromLatin1(ranking.data(), static_cast<qsizetype>(ranking.size()));
  content.documents = found->retrieved->documents;
  content.canMark = isAugment(*input.document, found->node);
  for (const trace::PassageInfo& passage : found->retrieved->passages) {
    PassageRow& row = content.rows.emplace_back();
    row.hash = QString::fromStdString(passage.hash);
    row.rank = passage.rank;
    row.score = passage.score;
    row.found = foundBy(passage);
    row.source = sourceOf(passage);
    row.text = QString::fromStdString(passage.text);
    row.inPrompt = passage.inPrompt;
    std::optional<document::PassageMark> before;
    if (passage.pinned)
      before = document::PassageMark::Pinned;
    else if (passage.dropped)
      before = document::PassageMark::Dropped;
    row.mark = before;
    if (!content.canMark) continue;
    const auto& marks = input.document->at(found->node).passages;
    const auto mark = marks.find(passage.hash);
    row.mark = mark == marks.end() ? std::nullopt : std::optional(mark->second);
    row.isChanged = row.mark != before;
  }
  return content;
}

QString passagesSummary(const PassagesContent& content) {
  if (content.node == document::kNoNode) return {};
  const auto inPrompt = std::count_if(content.rows.begin(), content.rows.end(),
                                      [](const PassageRow& row) { return row.inPrompt; });
  const QString documents =
      content.documents == 1 ? tr("1 document") : tr("%1 documents").arg(content.documents);
  return tr("%1 in the prompt · %2 · %3").arg(inPrompt).arg(documents, content.ranking);
}

void PassageListModel::setContent(PassagesContent content) {
  if (content == m_content) return;
  const bool sameRows = content.run == m_content.run && content.node == m_content.node &&
                        content.rows.size() == m_content.rows.size();
  if (sameRows) {
    // The rows are not reset, because marks change while a row is selected and the selection must stay.
    m_content = std::move(content);
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    return;
  }
  beginResetModel();
  m_content = std::move(content);
  endResetModel();
}

void PassageListModel::setTheme(const Theme& theme) {
  if (theme == m_theme) return;
  m_theme = theme;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int PassageListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_content.rows.size());
}

int PassageListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString PassageListModel::stateText(const PassageRow& row) {
  using document::PassageMark;
  if (row.mark == PassageMark::Pinned) return row.isChanged ? tr("pinned, next run") : tr("pinned");
  if (row.mark == PassageMark::Dropped) return row.isChanged ? tr("dropped, next run") : tr("dropped");
  if (row.isChanged) return tr("by rank, next run");
  return row.inPrompt ? tr("in the prompt") : tr("left out");
}

Role PassageListModel::stateInk(const PassageRow& row) {
  using document::PassageMark;
  if (row.mark == PassageMark::Pinned) return Role::Accent;
  if (row.mark == PassageMark::Dropped) return Role::Error;
  return row.inPrompt ? Role::HitInk : Role::TextThird;
}

QString PassageListModel::text(const PassageRow& row, int column) const {
  switch (column) {
    case State:
      return stateText(row);
    case Rank:
      return row.rank == 0 ? QStringLiteral("–") : QString::number(row.rank);
    case Score:
      return row.rank == 0 ? QStringLiteral("–") : scoreText(row.score);
    case Found:
      return row.found;
    case Source:
      return row.source;
    case Text:
      return row.text.simplified();
    default:
      return {};
  }
}

QVariant PassageListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const PassageRow& row = m_content.rows[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const bool isNumber = column == Rank || column == Score || column == Found;
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      return row.text;
    case Qt::AccessibleTextRole: {
      const QString name = headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
      return QStringLiteral("%1: %2").arg(name, text(row, column));
    }
    case Qt::FontRole:
      return isNumber ? m_theme.monoFont() : m_theme.interfaceFont();
    case Qt::ForegroundRole:
      if (column == State) return m_theme.color(stateInk(row));
      if (column == Text) return m_theme.color(row.inPrompt ? Role::Text : Role::TextSecond);
      return m_theme.color(Role::TextSecond);
    default:
      return {};
  }
}

QVariant PassageListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const QStringList names{tr("State"), tr("Rank"), tr("Score"), tr("Text"), tr("Source"), tr("Found by")};
  if (role == Qt::DisplayRole && section >= 0 && section < names.size()) return names[section];
  return {};
}

}  // namespace spanscope::ui

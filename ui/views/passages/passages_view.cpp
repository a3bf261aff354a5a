// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/passages/passages_view.h"

#include "engine/query/node_parts.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/trace/event_fields.h"
#include "engine/workbench/document/edits.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/table_view.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <string_view>
#include <utility>

namespace spanscope::ui {

namespace {

QString stateText(const PassageRow& row) {
  using document::PassageMark;
  if (row.mark == PassageMark::Pinned)
    return row.isChanged ? PassagesView::tr("pinned, next run") : PassagesView::tr("pinned");
  if (row.mark == PassageMark::Dropped)
    return row.isChanged ? PassagesView::tr("dropped, next run") : PassagesView::tr("dropped");
  if (row.isChanged) return PassagesView::tr("by rank, next run");
  return row.inPrompt ? PassagesView::tr("in the prompt") : PassagesView::tr("left out");
}

Role stateInk(const PassageRow& row) {
  if (row.mark == document::PassageMark::Pinned) return Role::Accent;
  if (row.mark == document::PassageMark::Dropped) return Role::Error;
  return row.inPrompt ? Role::HitInk : Role::TextThird;
}

}  // namespace

PassagesView::PassagesView(QWidget* parent)
    : RunView(parent),
      m_list(new PaintedTableModel(this)),
      m_table(new TableView(tr("Retrieved passages"), RowOrder::Fixed, this)) {
  setAccessibleName(tr("Passages"));
  m_table->setObjectName(QStringLiteral("passages"));
  m_table->setAccessibleDescription(tr("For the next run, P pins the passage, and D drops the passage."));
  m_list->setTable(passagesTable({}));
  m_table->setModel(m_list);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  QHeaderView* header = m_table->horizontalHeader();
  int column = 0;
  for (const int width : {144, 48, 68, 320, 156}) header->resizeSection(column++, width);
  m_table->hide();
  connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &PassagesView::showControls);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
  makeControls();
}

void PassagesView::makeControls() {
  QHBoxLayout* row = titleRow();
  // One action is the button, the key of the table and the entry of its menu.
  QAction* const copy = m_table->actions().value(0);
  const auto action = [&](const QString& name, const QString& text, const QString& help, Qt::Key key,
                          document::PassageMark mark) {
    auto* made = new QAction(text, m_table);
    made->setIconText(name);
    made->setToolTip(help);
    made->setCheckable(true);
    made->setShortcut(key);
    made->setShortcutContext(Qt::WidgetShortcut);
    connect(made, &QAction::triggered, this, [this, mark] {
      toggleMark(mark);
      showControls();
    });
    m_table->insertAction(copy, made);
    auto* button = new QToolButton(row->parentWidget());
    button->setDefaultAction(made);
    button->setAutoRaise(true);
    row->addWidget(button);
    return made;
  };
  m_pin = action(tr("Pin"), tr("Always in the prompt (pin)"),
                 tr("Always put this passage into the prompt (P)"), Qt::Key_P, document::PassageMark::Pinned);
  m_drop =
      action(tr("Drop"), tr("Never in the prompt (drop)"), tr("Never put this passage into the prompt (D)"),
             Qt::Key_D, document::PassageMark::Dropped);
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
  const bool isOther = content.run != m_content.run || content.node != m_content.node;
  m_content = std::move(content);
  m_table->setTheme(theme());
  m_table->setVisible(!m_content.rows.empty());
  m_list->setTable(passagesTable(m_content));
  // Marks change while a row is selected, and the selection must stay.
  if (isOther) m_table->setCurrentIndex({});
  showControls();
  Q_EMIT summaryChanged(passagesSummary(m_content));
  update();
}

const PassageRow* PassagesView::currentRow() const {
  const int row = m_table->currentIndex().row();
  return row < 0 ? nullptr : &m_content.rows[static_cast<std::size_t>(row)];
}

void PassagesView::showControls() {
  if (!m_ranking || !m_count) return;
  const PassageRow* row = currentRow();
  const bool canMark = row != nullptr && m_content.canMark && model() != nullptr;
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
  const PassageRow* row = currentRow();
  if (row == nullptr || model() == nullptr || !m_content.canMark) return;
  const bool isPin = mark == document::PassageMark::Pinned;
  const bool isSet = row->mark == mark;
  const QString name = isSet   ? tr("Use the rank of the passage")
                       : isPin ? tr("Pin passage")
                               : tr("Drop passage");
  model()->change(name, [&](document::Document& document) {
    document::setPassageMark(document, m_content.node, row->hash.toStdString(),
                             isSet ? std::nullopt : std::optional(mark));
  });
}

QString PassagesView::emptyText() const {
  return m_content.rows.empty() ? whatWillStandHere() : QString();
}

QString PassagesView::whatWillStandHere() const {
  if (m_content.isAsked) {
    const QString key = input() == nullptr ? QString() : input()->keyHint(QStringLiteral("run.run"));
    return tr("No run has searched for this augment yet. Run the query%1 to see the passages.").arg(key);
  }
  return tr(
      "Select an augment of a query that has run. The passages of the augment and their scores appear here.");
}

QString PassagesView::csv() const {
  if (input() == nullptr) return {};
  const PassagesContent content = passagesContent(*input());
  if (content.rows.empty()) return {};
  QString text = QStringLiteral("state,rank,score,found by,source,text\n");
  for (const PassageRow& row : content.rows) {
    const bool isRanked = row.rank != 0;
    text +=
        csvLine({stateText(row), isRanked ? QString::number(row.rank) : QString(),
                 isRanked ? QString::number(row.score, 'g', 9) : QString(), row.found, row.source, row.text});
  }
  return text;
}

void PassagesView::paintTo(QPainter& painter, const QSize& size) {
  const PassagesContent content = input() == nullptr ? PassagesContent() : passagesContent(*input());
  if (!content.rows.empty()) {
    paintTableInto(painter, size, passagesTable(content), theme());
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

PaintedTable passagesTable(const PassagesContent& content) {
  PaintedTable table{
      .headers = {PassagesView::tr("State"), PassagesView::tr("Rank"), PassagesView::tr("Score"),
                  PassagesView::tr("Text"), PassagesView::tr("Source"), PassagesView::tr("Found by")},
      .shares = {5, 2, 3, 16, 6, 6},
      .rows = {}};
  for (const PassageRow& row : content.rows) {
    const bool isRanked = row.rank != 0;
    const auto cell = [&row](const QString& text, Role ink, bool mono) {
      return PaintedCell{.text = text, .ink = ink, .mono = mono, .help = row.text};
    };
    table.rows.push_back(
        {cell(stateText(row), stateInk(row), false),
         cell(isRanked ? QString::number(row.rank) : QStringLiteral("–"), Role::TextSecond, true),
         cell(isRanked ? scoreText(row.score) : QStringLiteral("–"), Role::TextSecond, true),
         cell(row.text.simplified(), row.inPrompt ? Role::Text : Role::TextSecond, false),
         cell(row.source, Role::TextSecond, false), cell(row.found, Role::TextSecond, true)});
  }
  return table;
}

}  // namespace spanscope::ui

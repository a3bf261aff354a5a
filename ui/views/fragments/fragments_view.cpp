// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fragments/fragments_view.h"

#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/document/edits.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace spanscope::ui {
namespace {

constexpr int kRow = 24;

}  // namespace

FragmentsView::FragmentsView(QWidget* parent)
    : RunView(parent), m_list(new FragmentListModel(this)), m_table(new QTableView(this)) {
  setAccessibleName(tr("Fragments"));
  m_table->setObjectName(QStringLiteral("fragments"));
  m_table->setAccessibleName(tr("Retrieved fragments"));
  m_table->setAccessibleDescription(tr("P pins the fragment, D drops it, for the next run."));
  m_table->setModel(m_list);
  showWholeRows(*m_table, kRow);
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  QHeaderView* header = m_table->horizontalHeader();
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->resizeSection(FragmentListModel::State, 144);
  header->resizeSection(FragmentListModel::Rank, 48);
  header->resizeSection(FragmentListModel::Score, 68);
  header->resizeSection(FragmentListModel::Text, 320);
  header->resizeSection(FragmentListModel::Source, 156);
  m_table->hide();
  m_table->installEventFilter(this);
  connect(m_table, &QWidget::customContextMenuRequested, this, &FragmentsView::showMenu);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this,
          &FragmentsView::showControls);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
  makeControls();
}

void FragmentsView::makeControls() {
  QHBoxLayout* row = titleRow();
  const auto button = [&](const QString& text, const QString& help, document::FragmentMark mark) {
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
  m_pin =
      button(tr("Pin"), tr("Always put this fragment into the prompt (P)"), document::FragmentMark::Pinned);
  m_drop =
      button(tr("Drop"), tr("Never put this fragment into the prompt (D)"), document::FragmentMark::Dropped);
  m_ranking = new QComboBox(row->parentWidget());
  m_ranking->setAccessibleName(tr("Ranked by"));
  m_ranking->setToolTip(
      tr("Rank fragments of the next run by shared words (BM25), by vectors of the model, or by both "
         "(reciprocal rank fusion)"));
  m_ranking->addItem(tr("auto"), QStringLiteral("auto"));
  m_ranking->addItem(tr("words"), QStringLiteral("lexical"));
  m_ranking->addItem(tr("vectors"), QStringLiteral("embedding"));
  m_ranking->addItem(tr("both"), QStringLiteral("hybrid"));
  row->addWidget(m_ranking);
  m_count = new QSpinBox(row->parentWidget());
  m_count->setAccessibleName(tr("Fragments of an augment"));
  m_count->setToolTip(tr("Set the max fragments of an augment for the next run"));
  m_count->setRange(1, retrieve::kMaxFragments);
  m_count->setKeyboardTracking(false);
  row->addWidget(m_count);
  for (QWidget* field : {static_cast<QWidget*>(m_ranking), static_cast<QWidget*>(m_count)})
    new DocumentUndo(
        field, [this] { return model(); }, UndoHistory::Settings);
  connect(m_ranking, &QComboBox::activated, this, [this] {
    changeSettings(tr("Ranking of fragments"), [this](document::RunSettings& settings) {
      settings.ranking = m_ranking->currentData().toString().toStdString();
    });
  });
  connect(m_count, &QSpinBox::valueChanged, this, [this](int count) {
    changeSettings(tr("Number of fragments"),
                   [count](document::RunSettings& settings) { settings.fragments = count; });
  });
  showControls();
}

void FragmentsView::setModel(DocumentModel* model) {
  RunView::setModel(model);
  showControls();
}

void FragmentsView::refresh() {
  FragmentsContent content = fragmentsContent(*input());
  if (m_shown != input()->theme) {
    m_shown = input()->theme;
    m_table->setStyleSheet(tableStyle(input()->theme));
    m_list->setTheme(input()->theme);
  }
  const QString summary = fragmentsSummary(content);
  m_table->setVisible(!content.rows.empty());
  m_list->setContent(std::move(content));
  showControls();
  Q_EMIT summaryChanged(summary);
  update();
}

std::optional<FragmentRow> FragmentsView::currentRow() const {
  const QModelIndex index = m_table->currentIndex();
  if (!index.isValid()) return std::nullopt;
  return m_list->content().rows[static_cast<std::size_t>(index.row())];
}

void FragmentsView::showControls() {
  if (!m_ranking || !m_count || !m_pin || !m_drop) return;
  const std::optional<FragmentRow> row = currentRow();
  const bool canMark = row.has_value() && m_list->content().canMark && model() != nullptr;
  m_pin->setEnabled(canMark);
  m_drop->setEnabled(canMark);
  m_pin->setChecked(canMark && row->mark == document::FragmentMark::Pinned);
  m_drop->setChecked(canMark && row->mark == document::FragmentMark::Dropped);
  m_ranking->setEnabled(model() != nullptr);
  m_count->setEnabled(model() != nullptr);
  if (model() == nullptr) return;
  const document::RunSettings& settings = model()->document().settings;
  const QSignalBlocker quiet(m_count);
  m_count->setValue(settings.fragments);
  m_ranking->setCurrentIndex(m_ranking->findData(QString::fromStdString(settings.ranking)));
}

void FragmentsView::changeSettings(const QString& name,
                                   const std::function<void(document::RunSettings&)>& change) {
  if (model() == nullptr) return;
  model()->change(name, [&](document::Document& document) { change(document.settings); });
}

void FragmentsView::toggleMark(document::FragmentMark mark) {
  const std::optional<FragmentRow> row = currentRow();
  if (!row || model() == nullptr || !m_list->content().canMark) return;
  const bool isPin = mark == document::FragmentMark::Pinned;
  const bool isSet = row->mark == mark;
  const QString name = isSet   ? tr("Use the rank of the fragment")
                       : isPin ? tr("Pin fragment")
                               : tr("Drop fragment");
  model()->change(name, [&](document::Document& document) {
    document::setFragmentMark(document, m_list->content().node, row->hash.toStdString(),
                              isSet ? std::nullopt : std::optional(mark));
  });
}

void FragmentsView::showMenu(const QPoint& at) {
  const std::optional<FragmentRow> row = currentRow();
  if (!row || !m_list->content().canMark || model() == nullptr) return;
  QMenu menu(this);
  const auto add = [&](const QString& text, document::FragmentMark mark) {
    QAction* action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(row->mark == mark);
    connect(action, &QAction::triggered, this, [this, mark] { toggleMark(mark); });
  };
  add(tr("Always in the prompt (pin)"), document::FragmentMark::Pinned);
  add(tr("Never in the prompt (drop)"), document::FragmentMark::Dropped);
  menu.exec(m_table->viewport()->mapToGlobal(at));
}

bool FragmentsView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool isPlain = key->modifiers() == Qt::NoModifier;
    if (isPlain && (key->key() == Qt::Key_P || key->key() == Qt::Key_D)) {
      toggleMark(key->key() == Qt::Key_P ? document::FragmentMark::Pinned : document::FragmentMark::Dropped);
      return true;
    }
  }
  return RunView::eventFilter(watched, event);
}

QString FragmentsView::emptyText() const {
  return m_list->content().rows.empty() ? whatWillStandHere() : QString();
}

QString FragmentsView::whatWillStandHere() const {
  if (m_list->content().isAsked) {
    const QString key = input() == nullptr ? QString() : input()->keyHint(QStringLiteral("run.run"));
    return tr("No run has searched for this augment yet. Run the query%1 to see its fragments.").arg(key);
  }
  return tr("Select an augment of a query that has run. Its fragments and their scores appear here.");
}

QString FragmentsView::csv() const {
  if (input() == nullptr) return {};
  const FragmentsContent content = fragmentsContent(*input());
  if (content.rows.empty()) return {};
  QString text = QStringLiteral("state,rank,score,found by,source,text\n");
  for (const FragmentRow& row : content.rows) {
    const bool isRanked = row.rank != 0;
    text +=
        csvLine({FragmentListModel::stateText(row), isRanked ? QString::number(row.rank) : QString(),
                 isRanked ? QString::number(row.score, 'g', 9) : QString(), row.found, row.source, row.text});
  }
  return text;
}

PaintedTable FragmentsView::painted(const FragmentsContent& content) const {
  PaintedTable table{
      .headers = {tr("State"), tr("Rank"), tr("Score"), tr("Text"), tr("Source"), tr("Found by")},
      .shares = {5, 2, 3, 16, 6, 6},
      .rows = {}};
  FragmentListModel list;
  list.setContent(content);
  for (int row = 0; row < list.rowCount(); ++row) {
    const auto text = [&](int column) { return list.index(row, column).data().toString(); };
    const FragmentRow& entry = content.rows[static_cast<std::size_t>(row)];
    table.rows.push_back(
        {{text(FragmentListModel::State), FragmentListModel::stateInk(entry), false},
         {text(FragmentListModel::Rank), Role::TextSecond, true},
         {text(FragmentListModel::Score), Role::TextSecond, true},
         {text(FragmentListModel::Text), entry.inPrompt ? Role::Text : Role::TextSecond, false},
         {text(FragmentListModel::Source), Role::TextSecond, false},
         {text(FragmentListModel::Found), Role::TextSecond, true}});
  }
  return table;
}

void FragmentsView::paintTo(QPainter& painter, const QSize& size) {
  const FragmentsContent content = input() == nullptr ? FragmentsContent() : fragmentsContent(*input());
  if (!content.rows.empty()) {
    paintTableInto(painter, size, painted(content), theme());
    return;
  }
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  paintEmptyText(painter, QRect(QPoint(), size), whatWillStandHere(), theme());
}

ViewInfo fragmentsRow() {
  return {.id = QStringLiteral("fragments"),
          .title = tr("Fragments"),
          .help = tr("The fragments of the selected augment, their scores, and which are in the prompt"),
          .make = makeViewOf<FragmentsView>,
          .places = {{LayoutId::Explain, Room::Low, Room::Middle, 1, 1, 2, 0},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 1, 1, 0}}};
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/plan/pass_view.h"

#include "engine/base/difference.h"
#include "ui/views/common/table_painting.h"

#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kLine = 20;
constexpr int kListWidth = 200;

/// Paints the background of changed lines, which the table's style sheet would leave out.
class LineDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QVariant ground = index.data(Qt::BackgroundRole);
    if (ground.isValid()) painter->fillRect(option.rect, ground.value<QColor>());
    QStyledItemDelegate::paint(painter, option, index);
  }
};

/// The tree without the marks of single passes. For all passes together, lines that the trees do not share
/// are the changes.
std::vector<plan::TreeLine> unmarked(std::vector<plan::TreeLine> tree) {
  for (plan::TreeLine& line : tree) line.changed = false;
  return tree;
}

QString timesText(std::uint32_t count) {
  return count == 1 ? PassView::tr("once") : PassView::tr("%1 times").arg(count);
}

}  // namespace

PassView::PassView(QWidget* parent)
    : QWidget(parent),
      m_splitter(new QSplitter(Qt::Horizontal, this)),
      m_list(new QListWidget(m_splitter)),
      m_why(nullptr),
      m_trees(nullptr),
      m_model(new TreePairModel(this)) {
  m_list->setAccessibleName(tr("Rewrite passes"));
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setWordWrap(true);
  auto* right = new QWidget(m_splitter);
  m_why = new QLabel(right);
  m_why->setWordWrap(true);
  m_why->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_why->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 2 * kSpace);
  m_why->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_trees = new QTableView(right);
  m_trees->setAccessibleName(tr("The query before and after"));
  m_trees->setModel(m_model);
  m_trees->setItemDelegate(new LineDelegate(m_trees));
  m_trees->setFrameShape(QFrame::NoFrame);
  m_trees->setShowGrid(false);
  m_trees->setWordWrap(false);
  m_trees->setTabKeyNavigation(false);
  m_trees->setSelectionMode(QAbstractItemView::SingleSelection);
  m_trees->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_trees->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_trees->verticalHeader()->hide();
  m_trees->verticalHeader()->setMinimumSectionSize(kLine);
  m_trees->verticalHeader()->setDefaultSectionSize(kLine);
  m_trees->horizontalHeader()->setHighlightSections(false);
  m_trees->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_why);
  column->addWidget(m_trees, 1);
  m_splitter->setStretchFactor(0, 0);
  m_splitter->setStretchFactor(1, 1);
  m_splitter->setSizes({kListWidth, 3 * kListWidth});
  m_splitter->setChildrenCollapsible(false);
  m_list->setMinimumWidth(kListWidth * 3 / 5);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_splitter);
  connect(m_list, &QListWidget::currentRowChanged, this, [this] {
    if (!m_filling) showChosen();
  });
  connect(m_trees, &QTableView::clicked, this, &PassView::choose);
  connect(m_trees, &QTableView::activated, this, &PassView::choose);
}

void PassView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  // In a narrow dock, the trees are below the list. Beside the list they would have no space for their words.
  const Qt::Orientation wanted = width() < 3 * kListWidth ? Qt::Vertical : Qt::Horizontal;
  if (m_splitter->orientation() == wanted) return;
  m_splitter->setOrientation(wanted);
  m_splitter->setSizes(wanted == Qt::Vertical ? QList{4 * kLine, std::max(4 * kLine, height() - 4 * kLine)}
                                              : QList{kListWidth, 3 * kListWidth});
}

int PassView::chosen() const {
  return std::max(0, m_list->currentRow());
}

void PassView::show(std::shared_ptr<const DocumentPrediction> prediction, document::NodeId selected,
                    const Theme& theme) {
  const bool isSame = prediction == m_prediction && m_theme == theme;
  const bool isMarkedAgain = selected != m_selected;
  m_selected = selected;
  if (!isSame) {
    if (m_theme != theme) m_trees->setStyleSheet(tableStyle(theme));
    m_prediction = std::move(prediction);
    m_theme = theme;
    fillList();
    showChosen();
  } else if (isMarkedAgain) {
    showSelected();
  }
}

void PassView::fillList() {
  m_filling = true;
  const int before = chosen();
  m_list->clear();
  if (m_prediction && m_prediction->plan) {
    m_list->addItem(tr("All rules together"));
    int number = 1;
    for (const plan::PassReport& pass : m_prediction->plan->passes) {
      m_list->addItem(
          tr("%1. %2, %3").arg(number++).arg(QString::fromStdString(pass.rule), timesText(pass.applied)));
    }
    m_list->setCurrentRow(std::min(before, m_list->count() - 1));
  }
  m_filling = false;
}

void PassView::showChosen() {
  const plan::Plan* plan = m_prediction && m_prediction->plan ? &*m_prediction->plan : nullptr;
  const Theme theme = m_theme.value_or(Theme());
  const bool hasPasses = plan != nullptr && !plan->passes.empty();
  m_trees->setVisible(hasPasses);
  m_list->setVisible(hasPasses);
  if (!hasPasses) {
    m_model->setRows({}, theme);
    m_why->setText(plan == nullptr ? QString() : tr("No rule applies. The query runs unchanged."));
    return;
  }
  const int row = chosen();
  if (row == 0) {
    m_why->setText(tr("The effect of all rules together. Choose a rule to see its effect and its reason."));
    m_model->setRows(pairTrees(unmarked(plan->passes.front().before), unmarked(plan->passes.back().after)),
                     theme);
  } else {
    const plan::PassReport& pass = plan->passes[static_cast<std::size_t>(row) - 1];
    m_why->setText(tr("%1 %2").arg(QString::fromStdString(pass.reason),
                                   pass.keepsMeaning ? tr("Every prompt reads the same before and after.")
                                                     : tr("The rule changes the contents of prompts.")));
    m_model->setRows(pairTrees(pass.before, pass.after), theme);
  }
  showSelected();
}

document::NodeId PassView::nodeOf(const QModelIndex& index) const {
  const plan::TreeLine* line = m_model->line(index);
  return line == nullptr || !m_prediction ? document::kNoNode : m_prediction->paths.nodeOf(line->node);
}

void PassView::showSelected() {
  if (m_selected == document::kNoNode) {
    m_trees->selectionModel()->clear();
    return;
  }
  if (nodeOf(m_trees->currentIndex()) == m_selected && m_trees->selectionModel()->hasSelection()) return;
  for (int row = 0; row < m_model->rowCount(); ++row) {
    for (const int column : {TreePairModel::Before, TreePairModel::After}) {
      const QModelIndex index = m_model->index(row, column);
      if (nodeOf(index) != m_selected) continue;
      m_trees->setCurrentIndex(index);
      return;
    }
  }
  m_trees->selectionModel()->clear();
}

void PassView::choose(const QModelIndex& index) {
  if (const document::NodeId node = nodeOf(index); node != document::kNoNode) Q_EMIT nodeWanted(node);
}

namespace {

using Lines = std::vector<plan::TreeLine>;

bool isSame(const plan::TreeLine& a, const plan::TreeLine& b) {
  return a.label == b.label && a.node == b.node && a.depth == b.depth;
}

class Pairing {
 public:
  std::vector<TreePairRow> take() {
    flush();
    return std::move(m_rows);
  }

  void addBoth(const plan::TreeLine& before, const plan::TreeLine& after) {
    flush();
    m_rows.push_back({.before = before, .after = after});
  }
  void addBefore(plan::TreeLine line) {
    line.changed = true;
    m_before.push_back(std::move(line));
  }
  void addAfter(plan::TreeLine line) {
    line.changed = true;
    m_after.push_back(std::move(line));
  }

 private:
  /// Puts removed lines and the lines in their place beside each other.
  void flush() {
    for (std::size_t i = 0; i < std::max(m_before.size(), m_after.size()); ++i) {
      TreePairRow row;
      if (i < m_before.size()) row.before = std::move(m_before[i]);
      if (i < m_after.size()) row.after = std::move(m_after[i]);
      m_rows.push_back(std::move(row));
    }
    m_before.clear();
    m_after.clear();
  }

  std::vector<TreePairRow> m_rows;
  Lines m_before;
  Lines m_after;
};

}  // namespace

std::vector<TreePairRow> pairTrees(const Lines& before, const Lines& after) {
  Pairing pairing;
  for (const DifferenceStep& step :
       differenceOf(before.size(), after.size(),
                    [&](std::size_t i, std::size_t j) { return isSame(before[i], after[j]); })) {
    switch (step.on) {
      case StandsOn::Both:
        pairing.addBoth(before[step.left], after[step.right]);
        break;
      case StandsOn::Left:
        pairing.addBefore(before[step.left]);
        break;
      case StandsOn::Right:
        pairing.addAfter(after[step.right]);
        break;
    }
  }
  return pairing.take();
}

void TreePairModel::setRows(std::vector<TreePairRow> rows, const Theme& theme) {
  beginResetModel();
  m_rows = std::move(rows);
  m_theme = theme;
  endResetModel();
}

const plan::TreeLine* TreePairModel::line(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  const TreePairRow& row = m_rows[static_cast<std::size_t>(index.row())];
  const std::optional<plan::TreeLine>& own = index.column() == Before ? row.before : row.after;
  return own ? &*own : nullptr;
}

int TreePairModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TreePairModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant TreePairModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const plan::TreeLine* own = line(index);
  if (role == Qt::FontRole) return m_theme.monoFont();
  if (own == nullptr) return {};
  const QString label = QString::fromStdString(own->label);
  const bool isBefore = index.column() == Before;
  switch (role) {
    case Qt::DisplayRole: {
      const QString mark = !own->changed ? QStringLiteral("  ")
                           : isBefore    ? QStringLiteral("− ")
                                         : QStringLiteral("+ ");
      return mark + QString(2 * static_cast<int>(own->depth), QLatin1Char(' ')) + label;
    }
    case Qt::AccessibleTextRole:
      return !own->changed ? label : isBefore ? tr("changed: %1").arg(label) : tr("new: %1").arg(label);
    case Qt::ToolTipRole:
      return own->node.empty() ? label
                               : QStringLiteral("%1\n%2").arg(label, QString::fromStdString(own->node));
    case Qt::ForegroundRole:
      return m_theme.color(own->changed ? Role::Text : Role::TextSecond);
    case Qt::BackgroundRole:
      return own->changed ? QVariant(m_theme.color(Role::Grid)) : QVariant();
    default:
      return {};
  }
}

QVariant TreePairModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  if (role == Qt::DisplayRole) return section == Before ? tr("Before") : tr("After");
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  return {};
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/compare_pages.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QTableWidget>
#include <QTextCursor>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kCell = 12;  ///< pitch of blocks, gap included
constexpr int kIndent = 3;
constexpr int kTreeColumns = 4;  ///< a sign and a line on each side

QTextEdit* makeText(QWidget* parent, const QString& name) {
  auto* text = new QTextEdit(parent);
  text->setReadOnly(true);
  text->setAccessibleName(name);
  text->setFrameShape(QFrame::NoFrame);
  text->setTabChangesFocus(true);
  return text;
}

void fillText(QTextEdit& edit, const QString& title, const std::vector<DiffPiece>& pieces, DiffKind own,
              const Theme& theme) {
  edit.clear();
  QTextCursor cursor(edit.document());
  QTextCharFormat heading;
  heading.setForeground(theme.color(Role::TextSecond));
  heading.setFont(theme.smallFont());
  cursor.insertText(title + QLatin1Char('\n'), heading);
  QTextCharFormat plain;
  plain.setForeground(theme.color(Role::Text));
  plain.setFont(theme.interfaceFont());
  QTextCharFormat marked = plain;
  marked.setBackground(theme.color(Role::RelocatedFill));
  marked.setFontUnderline(true);
  for (const DiffPiece& piece : pieces) {
    if (piece.kind != DiffKind::Same && piece.kind != own) continue;
    cursor.insertText(piece.text, piece.kind == DiffKind::Same ? plain : marked);
  }
  if (pieces.empty()) cursor.insertText(AnswerPair::tr("No answer."), plain);
  edit.moveCursor(QTextCursor::Start);
}

Role inkOf(DiffKind kind) {
  switch (kind) {
    case DiffKind::Left:
      return Role::ComputedInk;
    case DiffKind::Right:
      return Role::HitInk;
    case DiffKind::Moved:
      return Role::RelocatedInk;
    case DiffKind::Same:
      break;
  }
  return Role::TextSecond;
}

QString tipOf(DiffKind kind) {
  switch (kind) {
    case DiffKind::Left:
      return TreePair::tr("On the left alone");
    case DiffKind::Right:
      return TreePair::tr("On the right alone");
    case DiffKind::Moved:
      return TreePair::tr("On both sides, at another place");
    case DiffKind::Same:
      break;
  }
  return TreePair::tr("The same on both sides");
}

}  // namespace

QString signOf(DiffKind kind) {
  switch (kind) {
    case DiffKind::Left:
      return QStringLiteral("−");
    case DiffKind::Right:
      return QStringLiteral("+");
    case DiffKind::Moved:
      return QStringLiteral("↕");
    case DiffKind::Same:
      break;
  }
  return {};
}

AnswerPair::AnswerPair(QWidget* parent)
    : QWidget(parent),
      m_left(makeText(this, tr("Answer of the run on the left"))),
      m_right(makeText(this, tr("Answer of the run on the right"))) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  layout->setSpacing(2 * kSpace);
  layout->addWidget(m_left);
  layout->addWidget(m_right);
}

void AnswerPair::setContent(const CompareModel& model, const Theme& theme) {
  fillText(*m_left, model.leftTitle, model.answers, DiffKind::Left, theme);
  fillText(*m_right, model.rightTitle, model.answers, DiffKind::Right, theme);
}

TreePair::TreePair(QWidget* parent) : QWidget(parent), m_table(new QTableWidget(this)) {
  m_table->setAccessibleName(tr("The two queries, a line a node"));
  m_table->setColumnCount(kTreeColumns);
  m_table->verticalHeader()->hide();
  m_table->setShowGrid(false);
  m_table->setWordWrap(false);
  m_table->setTextElideMode(Qt::ElideRight);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setTextElideMode(Qt::ElideRight);
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->horizontalHeader()->setMinimumSectionSize(20);
  for (const int column : {0, 2}) m_table->setColumnWidth(column, 24);
  for (const int column : {1, 3})
    m_table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
  m_table->verticalHeader()->setDefaultSectionSize(24);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
}

void TreePair::setContent(const CompareModel& model, const Theme& theme) {
  m_table->setStyleSheet(tableStyle(theme));
  m_table->setHorizontalHeaderLabels({QString(), model.leftTitle, QString(), model.rightTitle});
  m_table->setRowCount(static_cast<int>(model.trees.size()));
  for (int r = 0; r < m_table->rowCount(); ++r) {
    const TreeDiffRow& row = model.trees[static_cast<std::size_t>(r)];
    const bool onLeft = row.kind != DiffKind::Right && !row.left.isEmpty();
    const bool onRight = row.kind != DiffKind::Left && !row.right.isEmpty();
    const QString left = QString(kIndent * row.leftDepth, QLatin1Char(' ')) + row.left.simplified();
    const QString right = QString(kIndent * row.rightDepth, QLatin1Char(' ')) + row.right.simplified();
    const QString sign = signOf(row.kind);
    const QStringList texts{onLeft ? sign : QString(), left, onRight ? sign : QString(), right};
    for (int c = 0; c < kTreeColumns; ++c) {
      auto* item = new QTableWidgetItem(texts[c]);
      item->setFont(theme.interfaceFont());
      item->setForeground(theme.color(row.kind == DiffKind::Same ? Role::TextSecond : inkOf(row.kind)));
      const QString& whole = c < 2 ? row.left : row.right;
      item->setToolTip(whole.isEmpty() ? tipOf(row.kind) : tipOf(row.kind) + QLatin1Char('\n') + whole);
      m_table->setItem(r, c, item);
    }
  }
}

QString rolesText(const std::vector<BlockRole>& roles) {
  constexpr std::array kShown = {BlockRole::Hit, BlockRole::Relocated, BlockRole::Computed};
  const std::array names = {BlockStrips::tr("%1 hit"), BlockStrips::tr("%1 relocated"),
                            BlockStrips::tr("%1 computed")};
  QStringList parts;
  for (std::size_t i = 0; i < kShown.size(); ++i) {
    const auto count = std::count(roles.begin(), roles.end(), kShown[i]);
    if (count > 0) parts += names[i].arg(count);
  }
  return parts.isEmpty() ? BlockStrips::tr("no blocks") : parts.join(BlockStrips::tr(" · "));
}

QString stepText(const StepBlocks& step) {
  QString text = rolesText(step.roles);
  // First, since the end of a long line may be cut.
  if (!step.ending.isEmpty()) text = BlockStrips::tr("%1 · %2").arg(step.ending, text);
  if (step.left == 1) text = BlockStrips::tr("%1 · 1 block not computed").arg(text);
  if (step.left > 1) text = BlockStrips::tr("%1 · %2 blocks not computed").arg(text).arg(step.left);
  return text;
}

BlockStrips::BlockStrips(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Blocks of the two runs"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
}

void BlockStrips::setContent(const CompareModel& model, const Theme& theme) {
  m_model = model;
  m_painter.setTheme(theme);
  QStringList said;
  for (const BlockPair& pair : model.blocks) {
    const StepBlocks& step = pair.left ? *pair.left : *pair.right;
    said += tr("%1: %2; %3")
                .arg(step.name, pair.left ? stepText(*pair.left) : tr("none"),
                     pair.right ? stepText(*pair.right) : tr("none"));
  }
  setAccessibleDescription(said.join(QLatin1Char('\n')));
  setMinimumHeight(layOut(nullptr, width()));
  update();
}

int BlockStrips::layOut(QPainter* painter, int width) const {
  const Theme& theme = m_painter.theme();
  const int column = std::max(8 * kCell, (width - 6 * kSpace) / 2);
  const int columns = std::max(1, column / kCell);
  const int line = QFontMetrics(theme.smallFont()).height() + kSpace;
  int y = 2 * kSpace;
  if (painter != nullptr) painter->setFont(theme.smallFont());
  const auto textAt = [&](int x, int top, const QString& text, Role ink) {
    if (painter == nullptr) return;
    painter->setPen(theme.color(ink));
    painter->drawText(QRect(x, top, column, line), Qt::AlignLeft | Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(text, Qt::ElideRight, column));
  };
  const std::array lefts = {2 * kSpace, 4 * kSpace + column};
  textAt(lefts[0], y, m_model.leftTitle, Role::TextSecond);
  textAt(lefts[1], y, m_model.rightTitle, Role::TextSecond);
  y += line + kSpace;
  if (!m_model.hasBlocks) {
    textAt(lefts[0], y, tr("The trace of one of the runs has been let go: only its figures are left."),
           Role::TextSecond);
    return y + line;
  }
  for (const BlockPair& pair : m_model.blocks) {
    int height = 0;
    const std::array sides = {&pair.left, &pair.right};
    for (std::size_t side = 0; side < sides.size(); ++side) {
      const std::optional<StepBlocks>& step = *sides[side];
      if (!step) {
        textAt(lefts[side], y, tr("no such step"), Role::TextThird);
        continue;
      }
      textAt(lefts[side], y, tr("%1: %2").arg(step->name, stepText(*step)), Role::Text);
      const int count = static_cast<int>(step->roles.size());
      for (int i = 0; painter != nullptr && i < count; ++i) {
        const QRect place(lefts[side] + i % columns * kCell, y + line + i / columns * kCell, kCell - 2,
                          kCell - 2);
        m_painter.stamp(*painter, place, {.role = step->roles[static_cast<std::size_t>(i)]});
      }
      height = std::max(height, (count + columns - 1) / columns * kCell);
    }
    y += line + height + 2 * kSpace;
  }
  return y;
}

QSize BlockStrips::sizeHint() const {
  return {400, layOut(nullptr, 400)};
}

void BlockStrips::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), m_painter.theme().color(Role::Surface));
  layOut(&painter, width());
}

void BlockStrips::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setMinimumHeight(layOut(nullptr, width()));
}

}  // namespace spanscope::ui

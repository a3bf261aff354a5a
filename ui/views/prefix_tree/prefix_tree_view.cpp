// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prefix_tree/prefix_tree_view.h"

#include "ui/views/common/block_painter.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

enum Column { Text, Bar, Tokens, State, StoredBy, kColumns };

constexpr int kNodeRole = Qt::UserRole + 1;  ///< index of the node
constexpr int kRowHeight = 22;               // pixels
constexpr int kIndent = 4 * kSpace;
constexpr int kTextWidth = 230;
constexpr int kTokensWidth = 62;
constexpr int kStateWidth = 92;
constexpr int kStoredWidth = 100;
constexpr int kLeastText = 64;
constexpr int kTextBesideStored = 120;  // the text is more important than the run that stored the blocks
constexpr int kLeastBar = 68;
constexpr std::size_t kMostOpenRows = 400;

/// The bar of a node between the edges of `cell`, which stand for position 0 and the longest chain.
void paintBar(QPainter& painter, const QRectF& cell, const PrefixTree& tree, const PrefixNode& node,
              const BlockPainter& blocks) {
  const double scale = cell.width() / static_cast<double>(std::max<std::int64_t>(1, tree.longest));
  const double left = cell.left() + static_cast<double>(node.begin) * scale;
  const double width = std::max(3.0, static_cast<double>(node.tokens) * scale);
  const double right = std::min(left + width, cell.right());
  const QRectF bar(left, cell.top() + 5, std::max(3.0, right - left), cell.height() - 10);
  painter.setPen(QPen(blocks.theme().color(Role::Grid), 1, Qt::DotLine));
  painter.drawLine(QPointF(cell.left(), cell.center().y()), QPointF(left, cell.center().y()));
  if (node.role == BlockRole::Free)
    painter.fillRect(bar, blocks.theme().color(Role::Line));
  else
    blocks.fill(painter, bar, node.role, cell.topLeft());
  painter.setPen(QPen(
      node.role == BlockRole::Free ? blocks.theme().color(Role::Outline) : blocks.theme().ink(node.role), 1));
  painter.drawRect(bar.adjusted(0, 0, -1, -1));
}

class BarDelegate : public QStyledItemDelegate {
 public:
  BarDelegate(const PrefixTree& tree, QObject* parent) : QStyledItemDelegate(parent), m_tree(tree) {}

  void setTheme(const Theme& theme) { m_blocks.setTheme(theme); }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const auto node = static_cast<std::size_t>(index.siblingAtColumn(Text).data(kNodeRole).toInt());
    if (node >= m_tree.nodes.size()) return;
    painter->save();
    paintBar(*painter, QRectF(option.rect).adjusted(kSpace, 0, -kSpace, 0), m_tree, m_tree.nodes[node],
             m_blocks);
    painter->restore();
  }

 private:
  const PrefixTree& m_tree;
  BlockPainter m_blocks;
};

/// The text in one line.
QString lineOf(const PrefixNode& node) {
  return node.text.isEmpty() ? PrefixTreeView::tr("text not reported") : node.text.simplified();
}

QString stateOf(const PrefixNode& node) {
  return node.role == BlockRole::Free ? QStringLiteral("–") : Theme::name(node.role);
}

QString helpOf(const PrefixNode& node) {
  const QString facts = PrefixTreeView::tr("Tokens %1 to %2, blocks: %3")
                            .arg(node.begin)
                            .arg(node.begin + node.tokens - 1)
                            .arg(node.blocks.size());
  const QString stored = PrefixTreeView::tr("Stored by: %1").arg(node.storedBy);
  return facts + QLatin1Char('\n') + stored + QStringLiteral("\n\n") + lineOf(node);
}

QStringList headers() {
  return {PrefixTreeView::tr("Cached text"), PrefixTreeView::tr("Position"), PrefixTreeView::tr("Tokens"),
          PrefixTreeView::tr("This prompt"), PrefixTreeView::tr("Stored by")};
}

QString sentenceOf(const PrefixTree& tree) {
  const auto roots = std::count_if(tree.nodes.begin(), tree.nodes.end(),
                                   [](const PrefixNode& node) { return node.parent < 0; });
  return PrefixTreeView::tr(
             "Prefix trees in the cache: %1. An indented row continues the text of the less indented row "
             "above. A new prompt can reuse cached text up to the first different token.")
      .arg(roots);
}

}  // namespace

PrefixTreeView::PrefixTreeView(QWidget* parent)
    : RunView(parent),
      m_sentence(new QLabel(this)),
      m_rows(new QTreeView(this)),
      m_model(new QStandardItemModel(this)) {
  setAccessibleName(tr("Prefix tree"));
  setFocusProxy(m_rows);
  m_sentence->setTextFormat(Qt::PlainText);
  m_sentence->setWordWrap(true);
  m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  m_sentence->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  m_rows->setAccessibleName(tr("Cached prefixes"));
  m_rows->setModel(m_model);
  m_rows->setItemDelegateForColumn(Bar, new BarDelegate(m_tree, this));
  m_rows->setFrameShape(QFrame::NoFrame);
  m_rows->setUniformRowHeights(true);
  m_rows->setIndentation(kIndent);
  m_rows->setAllColumnsShowFocus(true);
  m_rows->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_rows->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_rows->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_sentence);
  layout->addWidget(m_rows, 1);
  for (QWidget* part : std::initializer_list<QWidget*>{m_sentence, m_rows}) part->hide();
  connect(m_rows->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& row) {
            if (!m_isFilling && row.isValid()) choose(row.siblingAtColumn(Text).data(kNodeRole).toInt());
          });
}

QString PrefixTreeView::emptyText() const {
  if (!m_tree.nodes.empty()) return {};
  if (input() != nullptr && !input()->state().progress().runs.empty())
    return tr("The cache has no blocks at this moment of the run.");
  return tr("Run a query to see which prefixes of prompts the cache has.");
}

void PrefixTreeView::refresh() {
  m_history.follow(input()->trace);
  PrefixTree tree = prefixTree(*input(), m_history);
  const bool isSame = tree == m_tree && m_shown == input()->theme;
  m_tree = std::move(tree);
  for (QWidget* part : std::initializer_list<QWidget*>{m_sentence, m_rows})
    part->setVisible(!m_tree.nodes.empty());
  if (!isSame) fill();
  showSelection();
  update();
}

void PrefixTreeView::fill() {
  m_isFilling = true;
  m_shown = input()->theme;
  static_cast<BarDelegate*>(m_rows->itemDelegateForColumn(Bar))->setTheme(theme());
  m_sentence->setFont(theme().smallFont());
  colorLabel(*m_sentence, theme(), Role::TextSecond);
  m_sentence->setText(sentenceOf(m_tree));
  m_rows->setFont(theme().smallFont());
  const int scrolled = m_rows->verticalScrollBar()->value();
  m_model->clear();
  m_items.clear();
  m_model->setHorizontalHeaderLabels(headers());
  for (std::size_t i = 0; i < m_tree.nodes.size(); ++i) {
    const PrefixNode& node = m_tree.nodes[i];
    QList<QStandardItem*> row;
    for (const QString& text :
         {lineOf(node), QString(), QString::number(node.tokens), stateOf(node), node.storedBy}) {
      auto* item = new QStandardItem(text);  // The model owns its items.
      item->setToolTip(helpOf(node));
      row.append(item);
    }
    row[Text]->setData(static_cast<int>(i), kNodeRole);
    row[Text]->setSizeHint({kLeastText, kRowHeight});
    row[Bar]->setData(tr("tokens %1 to %2").arg(node.begin).arg(node.begin + node.tokens - 1),
                      Qt::AccessibleTextRole);
    row[Tokens]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row[State]->setForeground(node.role == BlockRole::Free ? theme().color(Role::TextThird)
                                                           : theme().ink(node.role));
    QStandardItem* parent =
        node.parent < 0 ? m_model->invisibleRootItem() : m_items[static_cast<std::size_t>(node.parent)];
    parent->appendRow(row);
    m_items.push_back(row[Text]);
  }
  QHeaderView* header = m_rows->header();
  header->setFont(theme().smallFont());
  header->setStretchLastSection(false);
  header->setMinimumSectionSize(10 * kSpace);
  header->setSectionResizeMode(Bar, QHeaderView::Stretch);
  fitColumns();
  if (m_tree.nodes.size() <= kMostOpenRows) m_rows->expandAll();
  m_rows->verticalScrollBar()->setValue(scrolled);
  m_isFilling = false;
}

int PrefixTreeView::leastWidth(int column) const {
  constexpr int kBeside = 5 * kSpace;
  int widest = m_rows->header()->fontMetrics().horizontalAdvance(headers().at(column));
  const QFontMetrics metrics(theme().smallFont());
  for (std::size_t i = 0; i < std::min(m_items.size(), kMostOpenRows); ++i) {
    const QString text = m_items[i]->index().siblingAtColumn(column).data().toString();
    widest = std::max(widest, metrics.horizontalAdvance(text));
  }
  // The style sheet gives headers another font and space beside the text.
  return std::max(widest + kBeside, m_rows->header()->sectionSizeHint(column));
}

void PrefixTreeView::fitColumns() {
  QHeaderView* header = m_rows->header();
  if (header->count() < kColumns) return;
  // In a narrow dock, columns get the width that their texts need. If this width is too large, the last
  // column disappears. The tool tip has the whole text, and the run that stored the blocks.
  const int whole = m_rows->viewport()->width() - leastWidth(Bar);
  const bool isWide = whole >= kTextWidth + kTokensWidth + kStateWidth + kStoredWidth;
  const auto widthOf = [&](int column, int usual) {
    return isWide ? std::max(usual, leastWidth(column)) : leastWidth(column);
  };
  const int tokens = widthOf(Tokens, kTokensWidth);
  const int state = widthOf(State, kStateWidth);
  const int stored = widthOf(StoredBy, kStoredWidth);
  const int room = whole - tokens - state;
  const bool isStoredShown = room - stored >= kTextBesideStored;
  m_rows->setColumnHidden(StoredBy, !isStoredShown);
  const int text = std::clamp(room - (isStoredShown ? stored : 0), header->sectionSizeHint(Text), kTextWidth);
  for (const auto& [column, width] : {std::pair(Text, text), std::pair(Tokens, tokens),
                                      std::pair(State, state), std::pair(StoredBy, stored)})
    header->resizeSection(column, width);
}

void PrefixTreeView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  fitColumns();
}

int PrefixTreeView::nodeOf(const Selection& part) const {
  if (part.physical != kNullBlock) return nodeOfBlock(m_tree, part.physical);
  if (!part.block || input() == nullptr) return -1;
  const auto& requests = input()->state().progress().requests;
  const auto request = requests.find(part.block->request);
  if (request == requests.end()) return -1;
  const auto block = request->second.blocks.find({part.block->segment, part.block->virtualIndex});
  return block == request->second.blocks.end() ? -1 : nodeOfBlock(m_tree, block->second.block);
}

void PrefixTreeView::showSelection() {
  m_isFilling = true;
  const int node = nodeOf(input()->selection);
  if (node < 0)
    m_rows->selectionModel()->clearSelection();
  else
    m_rows->setCurrentIndex(m_items[static_cast<std::size_t>(node)]->index());
  m_isFilling = false;
}

void PrefixTreeView::choose(int node) {
  if (node < 0 || static_cast<std::size_t>(node) >= m_tree.nodes.size()) return;
  const BlockId block = m_tree.nodes[static_cast<std::size_t>(node)].blocks.front();
  Selection selection;
  const auto own = placeOf(input()->state(), m_tree.request, block);
  if (own && !m_history.lostAt(block, m_tree.request, input()->position)) {
    selection = selectionOfBlock(*input(), *own);
  } else {
    selection.nodes = input()->selection.nodes;
    selection.request = input()->selection.request;
  }
  selection.physical = block;
  Q_EMIT selectionWanted(selection);
}

const QWidget& PrefixTreeView::placesIn() const {
  return *m_rows->viewport();
}

std::vector<QRect> PrefixTreeView::placesOf(const Selection& part) const {
  const int node = nodeOf(part);
  if (node < 0) return {};
  const QModelIndex index = m_items[static_cast<std::size_t>(node)]->index();
  QRect place = m_rows->visualRect(index);
  if (place.isEmpty()) return {};
  place.setRight(m_rows->viewport()->width() - 1);
  return {place};
}

void PrefixTreeView::bringIntoSight(const Selection& part) {
  const int node = nodeOf(part);
  if (node >= 0) m_rows->scrollTo(m_items[static_cast<std::size_t>(node)]->index());
}

QString PrefixTreeView::csv() const {
  if (input() == nullptr) return {};
  BlockHistory history;
  history.follow(input()->trace);
  return prefixTreeCsv(prefixTree(*input(), history));
}

void PrefixTreeView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  paintTextAtTop(painter, inner, sentenceOf(m_tree), theme(), Role::TextSecond);
  const BlockPainter blocks(theme());
  painter.setFont(theme().smallFont());
  const QFontMetrics metrics(theme().smallFont());
  const int fixed = kTokensWidth + kStateWidth + kStoredWidth;
  const int text = std::clamp(inner.width() - fixed - kLeastBar, 0, kTextWidth);
  const int bar = std::max(0, inner.width() - fixed - text);
  const auto write = [&](int x, int width, int y, const QString& words, Role ink, Qt::Alignment side) {
    painter.setPen(theme().color(ink));
    const QRect place(x, y, std::max(0, width - 2 * kSpace), kRowHeight);
    painter.drawText(place, int(side | Qt::AlignVCenter),
                     metrics.elidedText(words, Qt::ElideRight, place.width()));
  };
  const std::vector<int> starts{0, text, text + bar, text + bar + kTokensWidth,
                                text + bar + kTokensWidth + kStateWidth};
  const std::vector<int> widths{text, bar, kTokensWidth, kStateWidth, kStoredWidth};
  const QStringList titles = headers();
  for (std::size_t column = 0; column < starts.size(); ++column)
    write(inner.left() + starts[column], widths[column], inner.top(), titles[static_cast<int>(column)],
          Role::TextThird, column == Tokens ? Qt::AlignRight : Qt::AlignLeft);
  int y = inner.top() + kRowHeight;
  std::vector<int> depths;
  for (const PrefixNode& node : m_tree.nodes) {
    const int depth = node.parent < 0 ? 0 : depths[static_cast<std::size_t>(node.parent)] + 1;
    depths.push_back(depth);
    if (y + kRowHeight > inner.bottom()) break;
    const int indent = std::min(depth * kIndent, text / 2);
    write(inner.left() + indent, text - indent, y, lineOf(node), Role::Text, Qt::AlignLeft);
    paintBar(painter, QRectF(inner.left() + starts[Bar], y, std::max(0, bar - 2 * kSpace), kRowHeight),
             m_tree, node, blocks);
    write(inner.left() + starts[Tokens], kTokensWidth, y, QString::number(node.tokens), Role::Text,
          Qt::AlignRight);
    write(inner.left() + starts[State], kStateWidth, y, stateOf(node), Role::TextSecond, Qt::AlignLeft);
    write(inner.left() + starts[StoredBy], kStoredWidth, y, node.storedBy, Role::TextSecond, Qt::AlignLeft);
    y += kRowHeight;
  }
}

ViewInfo prefixTreeRow() {
  return {.id = QStringLiteral("prefix-tree"),
          .title = tr("Prefix tree"),
          .help = tr("The cached prefixes of prompts, and where prompts begin to differ"),
          .make = makeViewOf<PrefixTreeView>,
          .needs = {Fact::Pool}};
}

}  // namespace spanscope::ui

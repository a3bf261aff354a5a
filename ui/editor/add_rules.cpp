// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/add_rules.h"

#include "ui/editor/node_look.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

using document::Arity;
using document::arityOf;
using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::NodeId;
using document::Place;

bool isJoin(const DocumentNode& node) {
  return arityOf(node.own).most == Arity::kMany;
}

/// Returns the operators in the order of the list: `first`, then the others of the palette.
std::vector<std::string> ordered(const std::vector<std::string>& first, bool needInput,
                                 const std::string& without = {}) {
  std::vector<std::string> result;
  const auto take = [&](const std::string& op) {
    if (op == without || std::find(result.begin(), result.end(), op) != result.end()) return;
    if (needInput && arityOf(document::makeOperator(op)).most == 0) return;
    result.push_back(op);
  };
  for (const std::string& op : first) take(op);
  for (const OperatorRow& info : operatorTable()) take(info.name);
  return result;
}

}  // namespace

std::optional<std::size_t> freeInputOf(const DocumentNode& node) {
  if (isJoin(node)) return node.children.size();
  const auto found = std::find(node.children.begin(), node.children.end(), kNoNode);
  if (found == node.children.end()) return std::nullopt;
  return static_cast<std::size_t>(found - node.children.begin());
}

AddPlace placeFor(const Document& document, NodeId selected) {
  using Kind = AddPlace::Kind;
  const DocumentNode* node = document.find(selected);
  if (node == nullptr) return {};
  if (const auto input = freeInputOf(*node))
    return {.kind = Kind::Child, .node = selected, .index = *input, .at = {}};
  if (node->parent != kNoNode && isJoin(document.at(node->parent))) {
    return {
        .kind = Kind::Child, .node = node->parent, .index = document.indexInParent(selected) + 1, .at = {}};
  }
  return {.kind = Kind::Above, .node = selected, .index = 0, .at = {}};
}

std::vector<std::string> fittingOperators(const Document& document, const AddPlace& place) {
  switch (place.kind) {
    case AddPlace::Kind::Root:
      return ordered({"g"}, false);
    case AddPlace::Kind::Above:
      return ordered({"plus", "cross", "seq", "par", "g"}, true);
    case AddPlace::Kind::Child: {
      const DocumentNode* parent = document.find(place.node);
      if (parent == nullptr) return {};
      if (isJoin(*parent)) return ordered({"user", "system"}, false);
      return ordered({"cross", "plus", "seq", "user"}, false);
    }
    case AddPlace::Kind::Wrap:
      return wrappingOperators(document, place.nodes);
    case AddPlace::Kind::Replace: {
      const DocumentNode* node = document.find(place.node);
      if (node == nullptr) return {};
      const bool hasChildren = std::any_of(node->children.begin(), node->children.end(),
                                           [](NodeId child) { return child != kNoNode; });
      const std::string own = query::operatorName(node->own);
      return ordered(isJoin(*node) ? std::vector<std::string>{"plus", "cross", "seq", "par"}
                                   : std::vector<std::string>{},
                     hasChildren, own);
    }
  }
  return {};
}

QString whyUnfit(const Document& document, const AddPlace& place, const std::string& op) {
  const std::vector<std::string> fitting = fittingOperators(document, place);
  if (std::find(fitting.begin(), fitting.end(), op) != fitting.end()) return {};
  const QString name = operatorLabel(op);
  const DocumentNode* node = document.find(place.node);
  const std::size_t most = arityOf(document::makeOperator(op)).most;
  if (place.kind == AddPlace::Kind::Wrap && most > 0 && most < place.nodes.size())
    return most == 1 ? tr("%1 takes one input, but %2 nodes are selected.").arg(name).arg(place.nodes.size())
                     : tr("%1 takes %2 inputs, but %3 nodes are selected.")
                           .arg(name)
                           .arg(most)
                           .arg(place.nodes.size());
  if (most == 0 && place.kind == AddPlace::Kind::Wrap)
    return tr("%1 takes no input, so it cannot wrap the selected nodes.").arg(name);
  if (most == 0 && node != nullptr)
    return place.kind == AddPlace::Kind::Above
               ? tr("%1 takes no input, so it cannot be above %2.").arg(name, nodeTitle(*node))
               : tr("%1 takes no input, but %2 has an input.").arg(name, nodeTitle(*node));
  return tr("%1 does not fit here.").arg(name);
}

NodeId addOperator(Document& document, const AddPlace& place, const std::string& op) {
  const query::Node own = document::makeOperator(op);
  switch (place.kind) {
    case AddPlace::Kind::Root: {
      // The tidy layout places the first node. A draft stays at the place that the user chose.
      return document::addNode(document, own, document.size() == 0 ? std::nullopt : place.at);
    }
    case AddPlace::Kind::Child: {
      const DocumentNode* parent = document.find(place.node);
      if (parent == nullptr) return kNoNode;
      const bool tidy = !parent->position || parent->parent == kNoNode;
      const NodeId root = document.root();
      const NodeId added = document::addNode(document, own, tidy ? std::nullopt : place.at);
      if (document::connect(document, added, {.parent = place.node, .index = place.index})) return added;
      document::removeSubtrees(document, {added});
      document.setRoot(root);
      return kNoNode;
    }
    case AddPlace::Kind::Above: {
      if (!document.contains(place.node)) return kNoNode;
      // A tree that the user has placed stays there: its new top has the position of the old top.
      const auto position =
          document.at(place.node).parent == kNoNode ? document.at(place.node).position : std::nullopt;
      const NodeId added = document::addNode(document, own, position);
      if (!document::insertAbove(document, place.node, added)) {
        document::removeSubtrees(document, {added});
        return kNoNode;
      }
      if (position) document::setPosition(document, place.node, std::nullopt);
      return added;
    }
    case AddPlace::Kind::Wrap:
      return wrapNodes(document, place.nodes, op);
    case AddPlace::Kind::Replace: {
      if (!document.contains(place.node)) return kNoNode;
      const std::string* text = query::textOf(document.at(place.node).own);
      const bool wouldDrop = text != nullptr && !text->empty() && query::textOf(own) == nullptr;
      if (wouldDrop && arityOf(own).most > 0) return wrapNodes(document, {place.node}, op);
      return document::replaceOperator(document, place.node, op) ? place.node : kNoNode;
    }
  }
  return kNoNode;
}

QString describePlace(const Document& document, const AddPlace& place) {
  const DocumentNode* node = document.find(place.node);
  switch (place.kind) {
    case AddPlace::Kind::Root:
      return document.size() == 0 ? tr("First node of the query") : tr("A draft next to the query");
    case AddPlace::Kind::Child:
      return node == nullptr ? QString() : tr("Input %1 of %2").arg(place.index + 1).arg(nodeTitle(*node));
    case AddPlace::Kind::Above:
      return node == nullptr ? QString() : tr("Takes %1 as its input").arg(nodeTitle(*node));
    case AddPlace::Kind::Wrap:
      return place.nodes.size() == 1 && node != nullptr ? tr("Wraps %1").arg(nodeTitle(*node))
                                                        : tr("Wraps %1 nodes").arg(place.nodes.size());
    case AddPlace::Kind::Replace:
      return node == nullptr ? QString() : tr("Replaces %1").arg(nodeTitle(*node));
  }
  return {};
}

bool connectAt(Document& document, NodeId child, Place place) {
  const DocumentNode* node = document.find(child);
  const DocumentNode* parent = document.find(place.parent);
  if (node == nullptr || parent == nullptr) return false;
  if (node->parent == place.parent && isJoin(*parent)) {
    const std::size_t from = document.indexInParent(child);
    const std::size_t to = place.index > from ? place.index - 1 : place.index;
    return document::moveChild(document, place.parent, from, to);
  }
  if (!document::connect(document, child, place)) return false;
  const DocumentNode& above = document.at(place.parent);
  if (!above.position || above.parent == kNoNode) document::setPosition(document, child, std::nullopt);
  return true;
}

namespace {

/// Returns the nodes that are not below other given nodes. Empty if these nodes have different parents.
std::vector<NodeId> siblings(const Document& document, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> tops = document::topmost(document, nodes);
  const bool areOne = std::all_of(tops.begin(), tops.end(), [&](NodeId id) {
    return document.at(id).parent == document.at(tops.front()).parent;
  });
  if (!areOne) tops.clear();
  return tops;
}

}  // namespace

std::vector<std::string> wrappingOperators(const Document& document, const std::vector<NodeId>& nodes) {
  const std::size_t count = siblings(document, nodes).size();
  std::vector<std::string> fitting;
  if (count == 0) return fitting;
  const auto take = [&](const std::string& op) {
    if (document::arityOf(document::makeOperator(op)).most < count) return;
    if (std::find(fitting.begin(), fitting.end(), op) == fitting.end()) fitting.push_back(op);
  };
  for (const char* first : {"plus", "cross", "seq", "par"}) take(first);
  for (const std::string& op : document::operatorNames()) take(op);
  return fitting;
}

NodeId wrapNodes(Document& document, const std::vector<NodeId>& nodes, const std::string& op) {
  const std::vector<NodeId> inner = siblings(document, nodes);
  const query::Node own = document::makeOperator(op);
  if (inner.empty() || document::arityOf(own).most < inner.size()) return kNoNode;
  const Document before = document;
  // If the user has placed the node, the new node gets the position of the old one.
  std::optional<document::Point> position;
  if (document.at(inner.front()).parent == kNoNode) position = document.at(inner.front()).position;
  const NodeId added = document::addNode(document, own, position);
  if (!document::insertAbove(document, inner.front(), added)) {
    document = before;
    return kNoNode;
  }
  if (position) document::setPosition(document, inner.front(), std::nullopt);
  for (std::size_t i = 1; i < inner.size(); ++i) {
    if (!document::connect(document, inner[i], {.parent = added, .index = i})) {
      document = before;
      return kNoNode;
    }
    document::setPosition(document, inner[i], std::nullopt);
  }
  return added;
}

namespace {

constexpr int kWidth = 280;
constexpr int kRowHeight = 32;
constexpr int kMostRows = 9;

class OperatorDelegate : public QStyledItemDelegate {
 public:
  OperatorDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& /*index*/) const override {
    return {option.rect.width(), kRowHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const std::string op = index.data(Qt::UserRole).toString().toStdString();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect row = option.rect;
    if ((option.state & QStyle::State_Selected) != 0) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(m_theme.color(Role::AccentFill));
      painter->drawRoundedRect(row.adjusted(4, 1, -4, -1), 4, 4);
    }
    painter->setPen(QPen(m_theme.color(Role::Text), 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(operatorIcon(op).translated(row.left() + 14, row.center().y() - 7.5));
    painter->setFont(m_theme.interfaceFont());
    painter->drawText(row.adjusted(42, 0, -12, 0), Qt::AlignVCenter | Qt::AlignLeft, operatorInfo(op).label);
    painter->setFont(m_theme.smallFont());
    painter->setPen(m_theme.color(Role::TextThird));
    painter->drawText(row.adjusted(42, 0, -14, 0), Qt::AlignVCenter | Qt::AlignRight, operatorInfo(op).hint);
    painter->restore();
  }

 private:
  const Theme& m_theme;
};

}  // namespace

void applyTheme(QWidget& widget, const Theme& theme) {
  widget.setPalette(theme.palette());
  widget.setFont(theme.interfaceFont());
}

AddPopup::AddPopup(QWidget* parent)
    : QFrame(parent),
      m_caption(new QLabel(this)),
      m_search(new QLineEdit(this)),
      m_list(new QListWidget(this)),
      m_help(new QLabel(this)) {
  setObjectName(QStringLiteral("addPopup"));
  setAccessibleName(tr("Add a node"));
  m_search->setObjectName(QStringLiteral("addSearch"));
  m_search->setPlaceholderText(tr("Search operators…"));
  m_search->setAccessibleName(tr("Search operators"));
  m_search->setClearButtonEnabled(false);
  m_search->installEventFilter(this);
  m_list->setObjectName(QStringLiteral("addList"));
  m_list->setAccessibleName(tr("Matching operators"));
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setMouseTracking(true);
  m_list->setItemDelegate(new OperatorDelegate(m_theme, m_list));
  m_help->setWordWrap(true);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(8, 8, 8, 8);
  box->setSpacing(4);
  box->addWidget(m_caption);
  box->addWidget(m_search);
  box->addWidget(m_list);
  box->addWidget(m_help);
  connect(m_search, &QLineEdit::textChanged, this, &AddPopup::filter);
  connect(m_list, &QListWidget::currentRowChanged, this, &AddPopup::showHelp);
  connect(m_list, &QListWidget::itemEntered, m_list,
          [this](QListWidgetItem* item) { m_list->setCurrentItem(item); });
  connect(m_list, &QListWidget::itemClicked, this, [this] { choose(); });
  hide();
}

void AddPopup::open(const std::vector<std::string>& operators, const QString& caption, QPoint at,
                    const Theme& theme, std::function<QString(const std::string&)> whyUnfit) {
  m_operators = operators;
  m_whyUnfit = std::move(whyUnfit);
  m_theme = theme;
  applyTheme(*this, theme);
  m_caption->setText(QFontMetrics(theme.smallFont()).elidedText(caption, Qt::ElideRight, kWidth - 24));
  m_caption->setFont(theme.smallFont());
  m_help->setFont(theme.smallFont());
  QPalette second = theme.palette();
  second.setColor(QPalette::WindowText, theme.color(Role::TextSecond));
  m_caption->setPalette(second);
  m_help->setPalette(second);
  QPalette plain = theme.palette();
  plain.setColor(QPalette::Base, theme.color(Role::Surface));
  m_list->setPalette(plain);
  m_search->clear();
  filter({});
  const int rows = std::clamp(static_cast<int>(operators.size()), 1, kMostRows);
  m_list->setFixedHeight(rows * kRowHeight + 2);
  m_help->setFixedHeight(2 * QFontMetrics(theme.smallFont()).lineSpacing() + 2);
  setFixedWidth(kWidth);
  layout()->activate();
  resize(kWidth, layout()->sizeHint().height());
  const QRect room = parentWidget()->rect().adjusted(8, 8, -8, -8);
  move(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() - width())),
       std::clamp(at.y(), room.top(), std::max(room.top(), room.bottom() - height())));
  show();
  raise();
  m_search->setFocus(Qt::PopupFocusReason);
}

bool AddPopup::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_search) return QFrame::eventFilter(watched, event);
  if (event->type() == QEvent::ShortcutOverride) {
    // While the search line is open, its keys are not those of the canvas.
    event->accept();
    return true;
  }
  if (event->type() == QEvent::KeyPress) {
    switch (static_cast<QKeyEvent*>(event)->key()) {
      case Qt::Key_Up:
        step(-1);
        return true;
      case Qt::Key_Down:
      case Qt::Key_Tab:
        step(1);
        return true;
      case Qt::Key_Backtab:
        step(-1);
        return true;
      case Qt::Key_PageUp:
        step(-kMostRows);
        return true;
      case Qt::Key_PageDown:
        step(kMostRows);
        return true;
      case Qt::Key_Return:
      case Qt::Key_Enter:
        choose();
        return true;
      case Qt::Key_Escape:
        shut();
        return true;
      default:
        break;
    }
  }
  if (event->type() == QEvent::FocusOut && isVisible()) {
    const auto reason = static_cast<QFocusEvent*>(event)->reason();
    if (reason != Qt::ActiveWindowFocusReason && reason != Qt::PopupFocusReason) shut();
  }
  return QFrame::eventFilter(watched, event);
}

void AddPopup::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(m_theme.color(Role::Outline));
  painter.setBrush(m_theme.color(Role::Surface));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kDockRadius, kDockRadius);
}

void AddPopup::filter(const QString& text) {
  m_list->clear();
  const QString wanted = text.trimmed();
  // Operators whose name begins with the text come first, then operators with the text anywhere in the name.
  std::vector<QString> first;
  std::vector<QString> rest;
  for (const std::string& op : m_operators) {
    const QString title = operatorInfo(op).label;
    const QString key = QString::fromStdString(op);
    if (title.startsWith(wanted, Qt::CaseInsensitive) || key == wanted) {
      first.push_back(key);
    } else if (title.contains(wanted, Qt::CaseInsensitive) ||
               operatorInfo(op).hint.contains(wanted, Qt::CaseInsensitive) ||
               operatorInfo(op).help.contains(wanted, Qt::CaseInsensitive)) {
      rest.push_back(key);
    }
  }
  first.insert(first.end(), rest.begin(), rest.end());
  for (const QString& op : first) {
    auto* item = new QListWidgetItem(operatorInfo(op.toStdString()).label, m_list);
    item->setData(Qt::UserRole, op);
    item->setToolTip(operatorInfo(op.toStdString()).help);
    item->setData(Qt::AccessibleTextRole, operatorInfo(op.toStdString()).label + QStringLiteral(", ") +
                                              operatorInfo(op.toStdString()).hint);
  }
  if (m_list->count() > 0) m_list->setCurrentRow(0);
  showHelp();
}

void AddPopup::step(int by) {
  if (m_list->count() == 0) return;
  m_list->setCurrentRow(std::clamp(m_list->currentRow() + by, 0, m_list->count() - 1));
}

void AddPopup::choose() {
  const QListWidgetItem* item = m_list->currentItem();
  if (item == nullptr) return;
  const QString op = item->data(Qt::UserRole).toString();
  shut();
  Q_EMIT chosen(op);
}

void AddPopup::shut() {
  if (!isVisible()) return;
  hide();
  Q_EMIT closed();
}

void AddPopup::showHelp() {
  const QListWidgetItem* item = m_list->currentItem();
  if (item != nullptr) {
    m_help->setText(operatorInfo(item->data(Qt::UserRole).toString().toStdString()).help);
    return;
  }
  const QString wanted = m_search->text().trimmed();
  const std::vector<OperatorRow>& table = operatorTable();
  const auto named = std::find_if(table.begin(), table.end(), [&wanted](const OperatorRow& row) {
    return row.label.startsWith(wanted, Qt::CaseInsensitive) || QString::fromStdString(row.name) == wanted;
  });
  const QString why = named == table.end() || !m_whyUnfit ? QString() : m_whyUnfit(named->name);
  m_help->setText(why.isEmpty() ? tr("No operator that fits here has this name") : why);
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/add_popup.h"

#include "ui/operators/operator_table.h"

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
  // Operators whose name begins with the text come first, then operators that hold it anywhere.
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
  m_help->setText(why.isEmpty() ? tr("No matching operator has this name") : why);
}

}  // namespace spanscope::ui

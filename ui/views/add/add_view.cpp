// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/add/add_view.h"

#include "engine/workbench/document/edits.h"
#include "ui/operators/operator_table.h"
#include "ui/views/common/choices.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/glossary.h"
#include "ui/words/tr.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMimeData>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStyle>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRowHeight = 28;
constexpr int kWrappedHeight = 38;  ///< row height with the hint below the word
constexpr int kIconRoom = 9 * kSpace;
constexpr int kRowEnd = 2 * kSpace;
constexpr int kNarrowIconRoom = 7 * kSpace;
constexpr int kNarrowWidth = 34 * kSpace;  ///< narrower views have small margins

/// Paints an operator: icon, word, and the hint at the right. If one hint does not fit there, all hints are
/// below the words. If a word does not fit there, the margins are smaller.
class OperatorDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void setTheme(const Theme& theme) { m_theme = theme; }

  /// Lays rows out for a width. Returns whether the row height changed.
  bool layOut(const QAbstractItemModel& model, int width) {
    const QFontMetrics words(m_theme.interfaceFont());
    const QFontMetrics hints(m_theme.smallFont());
    bool wraps = false;
    bool isNarrow = false;
    for (int row = 0; row < model.rowCount(); ++row) {
      const QModelIndex index = model.index(row, 0);
      const int word = words.horizontalAdvance(index.data().toString());
      const int hint = hints.horizontalAdvance(index.data(OperatorListModel::HintRole).toString());
      wraps = wraps || kIconRoom + word + 2 * kSpace + hint + kRowEnd > width;
      isNarrow = isNarrow || kIconRoom + std::max(word, hint) + kRowEnd > width;
    }
    m_iconRoom = isNarrow ? kNarrowIconRoom : kIconRoom;
    m_rowEnd = isNarrow ? 0 : kRowEnd;
    return std::exchange(m_wraps, wraps) != wraps;
  }
  int rowHeight() const { return m_wraps ? kWrappedHeight : kRowHeight; }

  /// The smallest width at which no word is cut.
  int leastWidth(const QAbstractItemModel& model) const {
    const QFontMetrics words(m_theme.interfaceFont());
    int widest = 0;
    for (int row = 0; row < model.rowCount(); ++row)
      widest = std::max(widest, words.horizontalAdvance(model.index(row, 0).data().toString()));
    return kNarrowIconRoom + widest + 1;
  }

  /// Rows are as wide as the list.
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {0, rowHeight()}; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect row = option.rect.adjusted(0, 1, 0, -1);
    const bool isSelected = (option.state & QStyle::State_Selected) != 0;
    const bool isHovered = (option.state & QStyle::State_MouseOver) != 0;
    if (isSelected || isHovered) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(m_theme.color(isSelected ? Role::AccentFill : Role::Canvas));
      painter->drawRoundedRect(row, kSpace, kSpace);
    }
    if ((option.state & QStyle::State_HasFocus) != 0 && isSelected) {
      painter->setPen(m_theme.color(Role::Accent));
      painter->setBrush(Qt::NoBrush);
      painter->drawRoundedRect(QRectF(row).adjusted(0.5, 0.5, -0.5, -0.5), kSpace, kSpace);
    }
    painter->setPen(QPen(m_theme.color(Role::TextSecond), 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->setBrush(Qt::NoBrush);
    const std::string op = index.data(OperatorListModel::NameRole).toString().toStdString();
    painter->drawPath(operatorIcon(op).translated(row.left() + (m_rowEnd == 0 ? kSpace : 2 * kSpace),
                                                  row.center().y() - 7));
    const QRect text = row.adjusted(m_iconRoom, 0, -m_rowEnd, 0);
    const QRect upper(text.left(), text.top() + 3, text.width(), text.height() / 2);
    const auto write = [&](const QFont& font, Role ink, const QRect& place, Qt::Alignment side,
                           const QString& words) {
      painter->setFont(font);
      painter->setPen(m_theme.color(ink));
      painter->drawText(place, static_cast<int>(side | Qt::AlignVCenter),
                        painter->fontMetrics().elidedText(words, Qt::ElideRight, place.width()));
    };
    write(m_theme.interfaceFont(), Role::Text, m_wraps ? upper : text, Qt::AlignLeft,
          index.data().toString());
    write(m_theme.smallFont(), Role::TextThird, m_wraps ? upper.translated(0, upper.height() - 3) : text,
          m_wraps ? Qt::AlignLeft : Qt::AlignRight, index.data(OperatorListModel::HintRole).toString());
    painter->restore();
  }

 private:
  Theme m_theme;
  bool m_wraps = false;
  int m_iconRoom = kIconRoom;
  int m_rowEnd = kRowEnd;
};

}  // namespace

AddView::AddView(QWidget* parent)
    : InputView(InputPart::Model, Pace::EveryInput, parent),
      m_search(new QLineEdit(this)),
      m_operators(new QListView(this)),
      m_found(new QSortFilterProxyModel(this)),
      m_none(new QLabel(tr("No operator matches."), this)),
      m_rule(new QWidget(this)),
      m_exampleTitle(new QLabel(tr("Examples"), this)),
      m_examples(new QListWidget(this)) {
  m_search->setObjectName(QStringLiteral("search"));
  m_search->setPlaceholderText(tr("Search…"));
  m_search->setAccessibleName(tr("Search operators"));
  m_search->setClearButtonEnabled(true);
  m_search->installEventFilter(this);

  m_found->setSourceModel(new OperatorListModel(m_found));
  m_found->setFilterRole(OperatorListModel::SearchRole);
  m_found->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_operators->setObjectName(QStringLiteral("operators"));
  m_operators->setAccessibleName(tr("Operators"));
  m_operators->setModel(m_found);
  m_operators->setItemDelegate(new OperatorDelegate(m_operators));
  m_operators->setUniformItemSizes(true);
  m_operators->setMouseTracking(true);
  m_operators->setDragEnabled(true);
  m_operators->setDragDropMode(QAbstractItemView::DragOnly);
  m_operators->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_operators->setResizeMode(QListView::Adjust);
  m_operators->installEventFilter(this);
  m_operators->viewport()->installEventFilter(this);
  m_operators->setMinimumHeight(3 * kRowHeight);
  m_none->hide();

  m_rule->setFixedHeight(1);
  m_rule->setAutoFillBackground(true);
  m_examples->setObjectName(QStringLiteral("examples"));
  m_examples->setAccessibleName(tr("Examples"));
  m_examples->setMouseTracking(true);
  m_examples->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_examples->setWordWrap(true);
  m_examples->setResizeMode(QListView::Adjust);
  m_examples->setMinimumHeight(2 * kRowHeight);
  for (const Example& example : exampleTable()) {
    auto* item = new QListWidgetItem(example.title, m_examples);
    item->setData(Qt::UserRole, example.file);
    item->setToolTip(example.description);
  }

  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(kSpace);
  layout->addWidget(m_search);
  layout->addWidget(m_none);
  layout->addWidget(m_operators, 16);
  layout->addSpacing(kSpace);
  layout->addWidget(m_rule);
  layout->addWidget(m_exampleTitle);
  layout->addWidget(m_examples, 7);
  setTabOrder(m_search, m_operators);
  setTabOrder(m_operators, m_examples);

  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    m_found->setFilterFixedString(text.trimmed());
    m_none->setVisible(m_found->rowCount() == 0);
    if (!text.isEmpty()) m_operators->setCurrentIndex(m_found->index(0, 0));
  });
  connect(m_search, &QLineEdit::returnPressed, this, [this] {
    const QModelIndex current = m_operators->currentIndex();
    add(current.isValid() ? current : m_found->index(0, 0));
  });
  connect(m_operators, &QListView::activated, this, &AddView::add);
  connect(m_examples, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    Q_EMIT commandWanted(QStringLiteral("file.open-example:") + item->data(Qt::UserRole).toString());
  });
}

void AddView::refresh() {
  const Theme now = theme();
  static_cast<OperatorDelegate*>(m_operators->itemDelegate())->setTheme(now);
  m_exampleTitle->setFont(now.titleFont());
  m_none->setFont(now.smallFont());
  colorLabel(*m_none, now, Role::TextThird);
  setSheet(*m_rule, QStringLiteral("background: %1").arg(now.color(Role::Line).name()));
  m_operators->viewport()->update();
  layOutRows();
  const QString key = input() == nullptr ? QString() : input()->keyOf(QStringLiteral("node.add"));
  Q_EMIT summaryChanged(key.isEmpty() ? QString() : tr("key %1").arg(key));
}

void AddView::resizeEvent(QResizeEvent* event) {
  InputView::resizeEvent(event);
  const int side = width() < kNarrowWidth ? kSpace : 2 * kSpace;
  layout()->setContentsMargins(side, 2 * kSpace, side, kSpace);
}

void AddView::layOutRows() {
  auto* const delegate = static_cast<OperatorDelegate*>(m_operators->itemDelegate());
  if (delegate->layOut(*m_found->sourceModel(), m_operators->viewport()->width()))
    m_operators->doItemsLayout();
  m_operators->setMaximumHeight(m_found->sourceModel()->rowCount() * delegate->rowHeight() + 4);
  // With a scroll bar, so that the width does not depend on the height.
  const int besides = 2 * m_operators->frameWidth() +
                      m_operators->style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, m_operators);
  m_operators->setMinimumWidth(delegate->leastWidth(*m_found->sourceModel()) + besides);
}

bool AddView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_operators->viewport() && event->type() == QEvent::Resize) layOutRows();
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int step = key->key() == Qt::Key_Down ? 1 : key->key() == Qt::Key_Up ? -1 : 0;
    if (step != 0 && m_found->rowCount() > 0) {
      const QModelIndex current = m_operators->currentIndex();
      const int row = current.isValid() ? current.row() + step : 0;
      m_operators->setCurrentIndex(m_found->index(qBound(0, row, m_found->rowCount() - 1), 0));
      return true;
    }
  }
  // Typed letters go to the search field, even if the list has the focus.
  if (watched == m_operators && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool isText = !key->text().isEmpty() && key->text().front().isPrint() &&
                        (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
    if (isText || key->key() == Qt::Key_Backspace) {
      m_search->setFocus();
      QCoreApplication::sendEvent(m_search, event);
      return true;
    }
  }
  return InputView::eventFilter(watched, event);
}

void AddView::add(const QModelIndex& index) {
  if (!index.isValid()) return;
  Q_EMIT commandWanted(QStringLiteral("node.add:") + index.data(OperatorListModel::NameRole).toString());
}

ViewInfo addRow() {
  return {.id = QStringLiteral("add"),
          .title = tr("Add"),
          .help = tr("Operators to drag to the canvas, and example queries"),
          .make = makeViewOf<AddView>,
          .places = {{LayoutId::Author, Room::Low, Room::Large, 0, 0, 0, 100}}};
}

int OperatorListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(operatorTable().size());
}

QVariant OperatorListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const OperatorRow& info = operatorTable().at(static_cast<std::size_t>(index.row()));
  switch (role) {
    case Qt::DisplayRole:
      return info.label;
    case Qt::ToolTipRole:
      return findTerm(info.label) == nullptr ? info.help : explain(info.label);
    case Qt::AccessibleTextRole:
      return tr("%1, %2").arg(info.label, info.hint);
    case Qt::AccessibleDescriptionRole:
      return info.help;
    case NameRole:
      return QString::fromStdString(info.name);
    case HintRole:
      return info.hint;
    case SearchRole:
      return QStringList({info.label, QString::fromStdString(info.name), info.hint, info.help})
          .join(QLatin1Char(' '));
    default:
      return {};
  }
}

Qt::ItemFlags OperatorListModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  return index.isValid() ? flags | Qt::ItemIsDragEnabled : flags;
}

QStringList OperatorListModel::mimeTypes() const {
  return {QLatin1String(document::kOperatorMimeType)};
}

QMimeData* OperatorListModel::mimeData(const QModelIndexList& indexes) const {
  if (indexes.isEmpty()) return nullptr;
  // The caller owns the data.
  auto data = std::make_unique<QMimeData>();
  data->setData(QLatin1String(document::kOperatorMimeType),
                indexes.first().data(NameRole).toString().toUtf8());
  return data.release();
}

}  // namespace spanscope::ui

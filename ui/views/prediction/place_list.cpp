// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/place_list.h"

#include "ui/views/prediction/prediction_painting.h"

#include <QAction>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kPlaceRow = 22;
constexpr int kPlaceBar = 6;
constexpr int kBarRoom = 96;
constexpr int kMostPlaceRows = 7;

}  // namespace

/// Paints a bar of cache hits before the reason.
class PlaceDelegate : public QStyledItemDelegate {
 public:
  explicit PlaceDelegate(PlaceList& list) : QStyledItemDelegate(&list), m_list(list) {}

  void setTheme(const Theme& theme) { m_blocks.setTheme(theme); }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const PredictionPlace& place = m_list.places().places()[static_cast<std::size_t>(m_list.rowOf(index))];
    QStyleOptionViewItem rest = option;
    initStyleOption(&rest, index);
    rest.text.clear();
    option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &rest, painter, option.widget);
    painter->save();
    QRect area = option.rect.adjusted(2 * kSpace, 0, -2 * kSpace, 0);
    if (place.problem.isEmpty()) {
      const QRectF bar(area.left(), area.center().y() - kPlaceBar / 2.0, std::min(kBarRoom, area.width()),
                       kPlaceBar);
      paintPredictionBar(*painter, bar, place.counts, m_blocks);
      area.setLeft(area.left() + kBarRoom + 2 * kSpace);
    }
    painter->setFont(m_blocks.theme().smallFont());
    painter->setPen(m_blocks.theme().color(Role::TextSecond));
    if (area.width() > 8 * kSpace) {
      painter->drawText(
          area, Qt::AlignLeft | Qt::AlignVCenter,
          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, area.width()));
    }
    painter->restore();
  }

 private:
  PlaceList& m_list;
  BlockPainter m_blocks;
};

void PlaceModel::setPlaces(std::vector<PredictionPlace> places) {
  beginResetModel();
  m_places = std::move(places);
  endResetModel();
}

int PlaceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_places.size());
}

int PlaceModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString PlaceModel::text(const PredictionPlace& place, int column) const {
  switch (column) {
    case Name:
      return place.name;
    case Found:
      return place.problem.isEmpty() ? foundText(place) : tr("not known");
    default:
      return place.problem.isEmpty() ? place.why : place.problem;
  }
}

QVariant PlaceModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const PredictionPlace& place = m_places[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      return text(place, index.column());
    case Qt::ToolTipRole:
      return placeTip(place);
    case Qt::TextAlignmentRole:
      return int((index.column() == Found ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case MonoRole:
      return index.column() == Found;
    case BoldRole:
      return place.isOwn && index.column() == Name;
    case InkRole:
      return static_cast<int>(index.column() == Name || place.problem.isEmpty() ? Role::Text
                                                                                : Role::TextSecond);
    case RawRole:
      return index.column() == Found && place.problem.isEmpty()
                 ? QVariant(static_cast<qlonglong>(place.counts.cached.least))
                 : QVariant();
    default:
      return {};
  }
}

QVariant PlaceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  static const char* const kTitles[] = {QT_TR_NOOP("Where"), QT_TR_NOOP("Cached"),
                                        QT_TR_NOOP("Reason for misses")};
  static const char* const kTips[] = {
      QT_TR_NOOP("The embedded cache, servers with default options, and servers of the list. Bold: where the "
                 "document runs"),
      QT_TR_NOOP("Cached prompt tokens of the next run"),
      QT_TR_NOOP("Cached, relocated and computed tokens, and the main reason for computed tokens")};
  if (role == Qt::DisplayRole) return tr(kTitles[section]);
  if (role == Qt::ToolTipRole) return tr(kTips[section]);
  if (role == Qt::TextAlignmentRole)
    return int((section == Found ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

PlaceList::PlaceList(QWidget* parent)
    : TableView(tr("Caches to predict"), RowOrder::Sortable, parent),
      m_model(new PlaceModel(this)),
      m_delegate(new PlaceDelegate(*this)),
      m_report(new QAction(tr("Show blocks as a run"), this)) {
  setModel(m_model);
  setItemDelegateForColumn(PlaceModel::Why, m_delegate);
  setRowHeight(kPlaceRow);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  horizontalHeader()->setSectionResizeMode(PlaceModel::Name, QHeaderView::ResizeToContents);
  horizontalHeader()->setSectionResizeMode(PlaceModel::Found, QHeaderView::ResizeToContents);
  insertAction(actions().value(0), m_report);
  const auto selected = [this]() -> const PredictionPlace& {
    return m_model->places()[static_cast<std::size_t>(selectedRow())];
  };
  connect(this, &TableView::rowSelected, this, [this, selected] {
    m_report->setEnabled(canTrace(selected()));
    Q_EMIT placeChosen(selected().id);
  });
  connect(m_report, &QAction::triggered, this, [this, selected] { Q_EMIT blocksWanted(selected().id); });
}

void PlaceList::showPlaces(const PredictionTable& table, const Theme& theme) {
  setTheme(theme);
  m_delegate->setTheme(theme);
  if (m_model->places() != table.places) m_model->setPlaces(table.places);
  showRow(table.places.empty() ? -1 : static_cast<int>(table.shown));
  m_report->setEnabled(!table.places.empty() && canTrace(table.places[table.shown]));
  updateGeometry();
}

void PlaceList::setNarrow(bool narrow) {
  setColumnHidden(PlaceModel::Why, narrow);
  horizontalHeader()->setSectionResizeMode(PlaceModel::Name,
                                           narrow ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
}

QSize PlaceList::sizeHint() const {
  const int rows = std::min(m_model->rowCount(), kMostPlaceRows);
  return {400, horizontalHeader()->sizeHint().height() + rows * kPlaceRow + kSpace};
}

QSize PlaceList::minimumSizeHint() const {
  return {0, horizontalHeader()->sizeHint().height() + 2 * kPlaceRow};
}

bool canTrace(const PredictionPlace& place) {
  return place.problem.isEmpty() && !place.setup.isEmpty();
}

QString foundText(const PredictionPlace& place) {
  return PlaceModel::tr("%1 of %2")
      .arg(predictedText("cached-tokens", place.counts), predictedText("prompt-tokens", place.counts));
}

QString placeTip(const PredictionPlace& place) {
  QStringList lines;
  if (!place.problem.isEmpty()) {
    lines << PlaceModel::tr("%1: %2.").arg(place.name, place.problem);
  } else {
    lines << PlaceModel::tr("%1: %2, %3.")
                 .arg(place.name,
                      metricPart("cached-tokens", predictedText("cached-tokens", place.counts),
                                 "prompt-tokens", predictedText("prompt-tokens", place.counts)),
                      metricPhrase("computed-tokens", predictedText("computed-tokens", place.counts)));
  }
  if (!place.why.isEmpty()) lines << PlaceModel::tr("Main reason: %1.").arg(place.why);
  if (!place.setup.isEmpty()) lines << PlaceModel::tr("%1, %2.").arg(place.setup, place.history);
  if (place.isOwn) lines << PlaceModel::tr("The document runs at this place.");
  return lines.join(QLatin1Char('\n'));
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/forecast/place_list.h"

#include "ui/views/common/table_painting.h"
#include "ui/views/forecast/forecast_painting.h"

#include <QHeaderView>
#include <QMenu>
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

/// Puts a bar of what is found before the reason.
class PlaceDelegate : public QStyledItemDelegate {
 public:
  PlaceDelegate(const PlaceModel& model, QObject* parent) : QStyledItemDelegate(parent), m_model(model) {}

  void setTheme(const Theme& theme) { m_blocks.setTheme(theme); }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), kPlaceRow};
  }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const ForecastPlace& place = m_model.places()[static_cast<std::size_t>(index.row())];
    if (index.column() != PlaceModel::Why || !place.problem.isEmpty()) {
      QStyledItemDelegate::paint(painter, option, index);
      return;
    }
    QStyleOptionViewItem rest = option;
    initStyleOption(&rest, index);
    rest.text.clear();
    option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &rest, painter, option.widget);
    painter->save();
    const QRect area = option.rect.adjusted(kSpace, 0, -kSpace, 0);
    const QRectF bar(area.left(), area.center().y() - kPlaceBar / 2.0, std::min(kBarRoom, area.width()),
                     kPlaceBar);
    paintForecastBar(*painter, bar, place.counts, m_blocks);
    const QRect words = area.adjusted(kBarRoom + 2 * kSpace, 0, 0, 0);
    painter->setFont(m_blocks.theme().smallFont());
    painter->setPen(m_blocks.theme().color(Role::TextSecond));
    if (words.width() > 8 * kSpace) {
      painter->drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                        QFontMetrics(painter->font()).elidedText(place.why, Qt::ElideRight, words.width()));
    }
    painter->restore();
  }

 private:
  const PlaceModel& m_model;
  BlockPainter m_blocks;
};

}  // namespace

void PlaceModel::setPlaces(std::vector<ForecastPlace> places, const Theme& theme) {
  beginResetModel();
  m_places = std::move(places);
  m_theme = theme;
  endResetModel();
}

int PlaceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_places.size());
}

int PlaceModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString PlaceModel::text(const ForecastPlace& place, int column) const {
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
  const ForecastPlace& place = m_places[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      return text(place, index.column());
    case Qt::ToolTipRole:
      return placeTip(place);
    case Qt::TextAlignmentRole:
      return QVariant((index.column() == Found ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font = index.column() == Name    ? m_theme.interfaceFont()
                   : index.column() == Found ? m_theme.monoFont()
                                             : m_theme.smallFont();
      if (place.isOwn && index.column() == Name) font.setWeight(QFont::DemiBold);
      return font;
    }
    case Qt::ForegroundRole:
      return m_theme.color(index.column() == Name || place.problem.isEmpty() ? Role::Text : Role::TextSecond);
    default:
      return {};
  }
}

QVariant PlaceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  static const char* const kTitles[] = {QT_TR_NOOP("Where"), QT_TR_NOOP("Found"), QT_TR_NOOP("Why not more")};
  static const char* const kTips[] = {
      QT_TR_NOOP("The embedded cache, servers as they start by themselves, and servers of the list; in bold "
                 "where the document is run"),
      QT_TR_NOOP("Prompt tokens that are found there, of all that the next run has"),
      QT_TR_NOOP("What is found, relocated and computed, and the reason for most of what is computed")};
  if (role == Qt::DisplayRole) return tr(kTitles[section]);
  if (role == Qt::ToolTipRole) return tr(kTips[section]);
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == Found ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

PlaceList::PlaceList(QWidget* parent) : QTreeView(parent), m_model(new PlaceModel(this)) {
  setAccessibleName(tr("Where the next run can be looked up"));
  setModel(m_model);
  setItemDelegate(new PlaceDelegate(*m_model, this));
  setFrameShape(QFrame::NoFrame);
  setRootIsDecorated(false);
  setUniformRowHeights(true);
  setAllColumnsShowFocus(true);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  header()->setHighlightSections(false);
  header()->setStretchLastSection(true);
  header()->setSectionResizeMode(PlaceModel::Name, QHeaderView::ResizeToContents);
  header()->setSectionResizeMode(PlaceModel::Found, QHeaderView::ResizeToContents);
  setContextMenuPolicy(Qt::CustomContextMenu);
  connect(this, &QWidget::customContextMenuRequested, this, &PlaceList::showMenu);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (m_isFilling || !now.isValid()) return;
    Q_EMIT placeChosen(m_model->places()[static_cast<std::size_t>(now.row())].id);
  });
}

void PlaceList::showPlaces(const ForecastTable& table, const Theme& theme) {
  m_isFilling = true;
  setStyleSheet(tableStyle(theme));
  static_cast<PlaceDelegate*>(itemDelegate())->setTheme(theme);
  const bool isSame = m_model->places() == table.places;
  if (!isSame || font() != theme.interfaceFont()) m_model->setPlaces(table.places, theme);
  setCurrentIndex(m_model->index(static_cast<int>(table.shown), 0));
  m_isFilling = false;
  updateGeometry();
}

void PlaceList::showMenu(const QPoint& at) {
  const QModelIndex row = indexAt(at);
  if (!row.isValid()) return;
  const ForecastPlace place = m_model->places()[static_cast<std::size_t>(row.row())];
  if (!canTell(place)) return;
  QMenu menu(this);
  menu.addAction(tr("Show its blocks as a run"), this, [this, id = place.id] { Q_EMIT blocksWanted(id); });
  menu.exec(viewport()->mapToGlobal(at));
}

void PlaceList::setNarrow(bool narrow) {
  setColumnHidden(PlaceModel::Why, narrow);
  header()->setSectionResizeMode(PlaceModel::Name,
                                 narrow ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
}

QSize PlaceList::sizeHint() const {
  const int rows = std::min(m_model->rowCount(), kMostPlaceRows);
  return {400, header()->sizeHint().height() + rows * kPlaceRow + kSpace};
}

QSize PlaceList::minimumSizeHint() const {
  return {0, header()->sizeHint().height() + 2 * kPlaceRow};
}

bool canTell(const ForecastPlace& place) {
  return place.problem.isEmpty() && !place.setup.isEmpty();
}

QString foundText(const ForecastPlace& place) {
  return PlaceModel::tr("%1 of %2")
      .arg(predictedText("cached-tokens", place.counts), predictedText("prompt-tokens", place.counts));
}

QString placeTip(const ForecastPlace& place) {
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
  if (!place.why.isEmpty()) lines << PlaceModel::tr("Most of these: %1.").arg(place.why);
  if (!place.setup.isEmpty()) lines << PlaceModel::tr("%1, %2.").arg(place.setup, place.history);
  if (place.isOwn) lines << PlaceModel::tr("The document is run there.");
  return lines.join(QLatin1Char('\n'));
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dock_host.h"

#include "ui/theme/theme.h"
#include "ui/window/whole_tabs.h"

#include <QAction>
#include <QApplication>
#include <QChildEvent>
#include <QDataStream>
#include <QLayout>
#include <QMouseEvent>
#include <QStyle>
#include <QTabBar>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace spanscope::ui {
namespace {

/// The widths of a layout's columns, in percent of the window's width.
std::vector<int> columnShares(LayoutId layout, Room room) {
  switch (layout) {
    case LayoutId::Author:
      return room == Room::Low ? std::vector{17, 53, 30} : std::vector{16, 56, 28};
    case LayoutId::Explain:
      // A long row of blocks needs width rather than height.
      return room == Room::Low     ? std::vector{58, 42}
             : room == Room::Large ? std::vector{70, 30}
                                   : std::vector{61, 39};
    case LayoutId::Measure:
      break;
    case LayoutId::Diagnose:
      return room == Room::Low ? std::vector{62, 38} : std::vector{66, 34};
  }
  return {64, 36};
}

/// The min width of a favoured dock's column, in percent. With these widths, the cards of small queries on
/// the canvas have texts in a window of 1024 × 700 pixels.
int favouredWidth(LayoutId layout, bool isCanvas, bool hasCanvas) {
  if (layout == LayoutId::Author) return 36;
  return isCanvas ? 72 : hasCanvas ? 64 : 62;
}

/// Keeps a tab in front of the tabs of the same place.
void choose(std::set<const Dock*>& chosen, const Dock& dock, const QList<QDockWidget*>& beside) {
  for (QDockWidget* each : beside) chosen.erase(qobject_cast<Dock*>(each));
  chosen.insert(&dock);
}

Room roomIn(int height) {
  constexpr int kMiddleHeight = 440;
  constexpr int kFullHeight = 700;
  constexpr int kLargeHeight = 1150;
  if (height < kMiddleHeight) return Room::Low;
  if (height < kFullHeight) return Room::Middle;
  return height < kLargeHeight ? Room::Full : Room::Large;
}

constexpr int kStripHeight = 46;

int scaled(int length, int part, int whole) {
  return whole <= 0 ? length : static_cast<int>(std::lround(static_cast<double>(length) * part / whole));
}

/// Raises the share at `index` to `least`, in percent. The other shares shrink in proportion.
void raiseShare(std::vector<int>& shares, std::size_t index, int least) {
  const int others = std::accumulate(shares.begin(), shares.end(), -shares[index]);
  if (shares[index] >= least || others <= 0) return;
  for (int& share : shares) share = share * (100 - least) / others;
  shares[index] = least;
}

/// Raises the share at `index` to `least`, in percent. The largest other share shrinks, because a small one
/// would become too small for its texts.
void takeFromLargest(std::vector<int>& shares, std::size_t index, int least) {
  std::size_t largest = index == 0 ? 1 : 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i != index && shares[i] > shares[largest]) largest = i;
  }
  if (largest >= shares.size() || shares[index] >= least) return;
  const int taken = std::min(least - shares[index], shares[largest]);
  shares[largest] -= taken;
  shares[index] += taken;
}

/// The text at the start of an arrangement in the settings.
const QString kArrangement = QStringLiteral("docks 1");

/// One place of a layout: the docks that share the place as tabs, and the place's share of the column.
struct Cell {
  std::vector<Dock*> docks;
  int share = 0;
};
struct Column {
  std::vector<Cell> cells;
  int share = 0;
};

/// The height in pixels that a place keeps beside a favoured dock. `isEdited`: the canvas is favoured.
int leastHeight(const Cell& cell, LayoutId layout, bool isEdited) {
  // Below this height, the canvas would show only a part of a query with five rows of nodes.
  constexpr int kLeastCanvas = 132;
  if (cell.docks.front()->id() == QLatin1String("canvas")) return kLeastCanvas;
  // In Author, the user also edits in the other docks. So each of them has room for a title and a few lines.
  constexpr int kLeastEditor = 120;
  constexpr int kTabs = 36;
  int least = layout != LayoutId::Author || isEdited ? 0 : kLeastEditor;
  // Qt keeps this height, too. Without it in the sum, Qt would take the missing pixels from the canvas.
  for (const Dock* dock : cell.docks) least = std::max(least, dock->minimumSizeHint().height());
  return least + (cell.docks.size() > 1 ? kTabs : 0);
}

}  // namespace

/// A layout: columns, and below them one row over the whole width.
struct DockHost::Plan {
  std::vector<Column> columns;
  std::vector<Cell> below;
  Dock* others = nullptr;  ///< docks that are not in the layout become tabs of this dock
};

DockHost::Plan DockHost::plan() const {
  struct Tab {
    Dock* dock = nullptr;
    ViewPlace place;
  };
  std::vector<Tab> tabs;
  Plan plan;
  for (Dock* dock : m_docks) {
    for (const ViewPlace& place : m_placesOf.at(dock)) {
      if (place.layout != m_layout || m_room < place.least || place.most < m_room) continue;
      tabs.push_back({dock, place});
      if (place.takesOthers) plan.others = dock;
    }
  }
  const auto orderOf = [](const Tab& tab) {
    return std::tuple(tab.place.column, tab.place.cell, tab.place.tab);
  };
  std::stable_sort(tabs.begin(), tabs.end(),
                   [&](const Tab& one, const Tab& other) { return orderOf(one) < orderOf(other); });
  const Tab* before = nullptr;
  for (const Tab& tab : tabs) {
    const bool isBelow = tab.place.column == ViewPlace::kBelow;
    const bool isNewColumn = before == nullptr || before->place.column != tab.place.column;
    if (isNewColumn && !isBelow)
      plan.columns.push_back(
          {.cells = {},
           .share = columnShares(m_layout, m_room).at(static_cast<std::size_t>(tab.place.column))});
    std::vector<Cell>& cells = isBelow ? plan.below : plan.columns.back().cells;
    if (isNewColumn || before->place.cell != tab.place.cell)
      cells.push_back({.docks = {}, .share = tab.place.share});
    cells.back().docks.push_back(tab.dock);
    before = &tab;
  }
  return plan;
}

QString layoutName(LayoutId layout) {
  switch (layout) {
    case LayoutId::Author:
      return QStringLiteral("author");
    case LayoutId::Explain:
      return QStringLiteral("explain");
    case LayoutId::Measure:
      return QStringLiteral("measure");
    case LayoutId::Diagnose:
      break;
  }
  return QStringLiteral("diagnose");
}

DockHost::DockHost(QWidget* parent) : QMainWindow(parent, Qt::Widget) {
  setDockNestingEnabled(true);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setAnimated(false);
  setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, 2 * kSpace);
  connect(this, &DockHost::settled, this, &DockHost::release);
}

void DockHost::hold() {
  if (m_isHeld || !isVisible()) return;
  m_isHeld = true;
  setUpdatesEnabled(false);
}

void DockHost::release() {
  if (!std::exchange(m_isHeld, false)) return;
  setUpdatesEnabled(true);
  // Qt copies the old pixels of a dock that is moved after this call. So all docks are painted again when
  // they are in place.
  QTimer::singleShot(0, this, [this] {
    for (QWidget* widget : findChildren<QWidget*>()) widget->update();
    update();
  });
}

void DockHost::add(Dock* dock, std::vector<ViewPlace> places, bool staysInSight) {
  m_docks.push_back(dock);
  m_placesOf.emplace(dock, std::move(places));
  if (staysInSight) m_edited.insert(dock);
  dock->hide();
  addDockWidget(Qt::LeftDockWidgetArea, dock);
  connect(dock, &Dock::rearranged, this, &DockHost::noteChange);
  connect(dock, &Dock::dockLocationChanged, this, &DockHost::noteChange);
  connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock](bool isShown) {
    if (!isShown) return;
    giveRoom(dock);
    Q_EMIT tabChosen(dock->id());
  });
}

void DockHost::giveRoom(Dock* dock) {
  if (dock->isFloating() || dockWidgetArea(dock) != Qt::NoDockWidgetArea) return;
  const auto isInPlace = [&](Dock* other) {
    return other != nullptr && other != dock && !other->isHidden() && !other->isFloating() &&
           dockWidgetArea(other) != Qt::NoDockWidgetArea;
  };
  Dock* beside = plan().others;
  if (!isInPlace(beside)) {
    // The user has moved this dock. The largest visible dock replaces it.
    beside = nullptr;
    const auto areaOf = [](const Dock* other) { return other->width() * other->height(); };
    for (Dock* front : fronts()) {
      if (isInPlace(front) && (beside == nullptr || areaOf(front) > areaOf(beside))) beside = front;
    }
  }
  // Painting is off, because Qt moves the pixels of the other docks back and forth.
  hold();
  if (beside == nullptr)
    addDockWidget(Qt::TopDockWidgetArea, dock);
  else
    tabifyDockWidget(beside, dock);
  dock->show();
  dock->raise();
  QTimer::singleShot(0, this, &DockHost::applySizes);
}

void DockHost::keepSizes(bool on) {
  m_keepsSizes = on;
  if (!on) QTimer::singleShot(0, this, &DockHost::applySizes);
}

void DockHost::noteChange() {
  if (m_applying || m_keepsSizes) return;
  if (std::exchange(m_areSizesDue, false) && isVisible()) {
    // The sizes of the layout are kept from now on. Qt's first sizes are replaced.
    QMainWindow::layout()->activate();
    resizeAll();
  }
  m_sizesWanted = false;
  // The docks do not have their new sizes yet.
  QTimer::singleShot(0, this, &DockHost::takeProportions);
}

void DockHost::takeProportions() {
  if (m_sizesWanted || m_maximised != nullptr || !isVisible()) return;
  m_proportions = {.window = size(), .places = {}};
  for (Dock* each : fronts()) {
    if (each->isFloating()) continue;
    m_proportions.places.push_back(
        {.dock = each, .size = each->size() + QSize(0, tabsAbove(*each)), .isFront = true});
  }
  Q_EMIT rearranged();
}

int DockHost::tabsAbove(const Dock& dock) const {
  for (const QTabBar* tabs : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    if (!tabs->isVisible()) continue;
    for (int i = 0; i < tabs->count(); ++i) {
      if (tabs->tabText(i) == dock.windowTitle()) return tabs->height();
    }
  }
  return 0;
}

Dock* DockHost::dock(const QString& id) const {
  const auto found =
      std::find_if(m_docks.begin(), m_docks.end(), [&id](const Dock* dock) { return dock->id() == id; });
  return found == m_docks.end() ? nullptr : *found;
}

void DockHost::setLayout(LayoutId layout) {
  restore();
  if (layout == m_layout) return;
  if (!m_sizesWanted) m_states[layoutName(m_layout)] = arrangement();
  m_fronts[m_layout] = fronts();
  m_layout = layout;
  arrange();
  const auto kept = m_states.find(layoutName(layout));
  if (kept != m_states.end())
    arrangeAs(kept->second);
  else
    raiseFronts();
  Q_EMIT layoutChanged();
  QTimer::singleShot(0, this, &DockHost::applySizes);
}

std::vector<Dock*> DockHost::fronts() const {
  std::vector<Dock*> found;
  for (Dock* each : m_docks) {
    if (!each->isHidden() && !each->visibleRegion().isEmpty()) found.push_back(each);
  }
  return found;
}

/// Shows the front tabs of the current layout. The first tab of each place is the default. A tab that the
/// user has chosen stays in front.
void DockHost::raiseFronts() {
  m_applying = true;
  for (Dock* front : m_fronts[m_layout]) {
    if (!front->isHidden()) front->raise();
  }
  m_applying = false;
}

void DockHost::toggleMaximised(Dock* dock) {
  if (m_maximised != nullptr || dock == nullptr) {
    restore();
    return;
  }
  if (dock->isFloating()) dock->setFloating(false);
  m_unmaximised = arrangement();
  m_places.clear();
  for (Dock* each : m_docks) {
    if (each->isHidden() || each->isFloating()) continue;
    m_places.push_back({.dock = each, .size = each->size(), .isFront = !each->visibleRegion().isEmpty()});
  }
  m_applying = true;
  for (const Place& place : m_places) {
    if (place.dock != dock) place.dock->hide();
  }
  m_applying = false;
  m_maximised = dock;
  dock->setMaximised(true);
  dock->show();
  dock->raise();
  Q_EMIT layoutChanged();
  QTimer::singleShot(0, this, &DockHost::settled);
}

void DockHost::restore() {
  if (m_maximised == nullptr) return;
  m_maximised->setMaximised(false);
  m_maximised = nullptr;
  // The docks to show come from m_places. Qt's state would also show docks that it does not know.
  m_applying = true;
  for (const Place& place : m_places) place.dock->show();
  QList<QDockWidget*> docks;
  QList<int> widths;
  QList<int> heights;
  for (const Place& place : m_places) {
    if (!place.isFront) continue;
    place.dock->raise();
    docks.append(place.dock);
    widths.append(place.size.width());
    heights.append(place.size.height());
  }
  resizeDocks(docks, widths, Qt::Horizontal);
  resizeDocks(docks, heights, Qt::Vertical);
  m_applying = false;
  Q_EMIT layoutChanged();
  QTimer::singleShot(0, this, &DockHost::applySizes);
}

Dock* DockHost::dockOf(QWidget* widget) const {
  for (; widget != nullptr; widget = widget->parentWidget()) {
    if (auto* found = qobject_cast<Dock*>(widget)) return found;
  }
  return nullptr;
}

void DockHost::resetLayout() {
  restore();
  m_states.erase(layoutName(m_layout));
  m_fronts.erase(m_layout);
  m_chosen.clear();
  arrange();
  Q_EMIT layoutChanged();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes what the docks show.
void DockHost::reveal(const QString& id) {
  Dock* wanted = dock(id);
  if (wanted == nullptr) return;
  if (m_maximised != nullptr && m_maximised != wanted && !wanted->isFloating()) restore();
  // A dock that is shown before it has a place would get a narrow column.
  giveRoom(wanted);
  if (wanted->isHidden()) wanted->show();
  wanted->raise();
  if (wanted->isFloating()) wanted->activateWindow();
  wanted->setFocus();
}

void DockHost::bring(const QString& id) {
  Dock* wanted = dock(id);
  if (wanted == nullptr) return;
  if (wanted->isHidden() && !wanted->isFloating() && dockWidgetArea(wanted) == Qt::NoDockWidgetArea) {
    Dock* beside = nullptr;
    // In a narrow place, texts and blocks are one below the other.
    constexpr int kNarrow = 260;  // pixels
    const auto area = [](const Dock& one) {
      return one.width() * one.height() / (one.width() < kNarrow ? 4 : 1);
    };
    for (Dock* front : fronts()) {
      // Docks for editing stay visible.
      if (front->isStrip() || front->isFloating() || m_edited.contains(front)) continue;
      if (beside == nullptr || area(*front) > area(*beside)) beside = front;
    }
    if (beside != nullptr) tabifyDockWidget(beside, wanted);
  }
  QWidget* const focused = QApplication::focusWidget();
  reveal(id);
  // A dock that is only offered, such as Why for a selected block, does not cover this dock.
  choose(m_chosen, *wanted, tabifiedDockWidgets(wanted));
  if (focused != nullptr && !wanted->isFloating()) focused->setFocus(Qt::OtherFocusReason);
}

void DockHost::offer(const QString& id) {
  Dock* offered = dock(id);
  if (offered == nullptr || m_maximised != nullptr || offered->isHidden() || offered->isFloating()) return;
  if (!offered->visibleRegion().isEmpty()) return;
  for (QDockWidget* beside : tabifiedDockWidgets(offered)) {
    if (m_chosen.contains(qobject_cast<Dock*>(beside)) && !beside->visibleRegion().isEmpty()) return;
  }
  m_applying = true;
  offered->raise();
  m_applying = false;
}

void DockHost::favour(const QString& id) {
  Dock* const favoured = id.isEmpty() ? nullptr : dock(id);
  if (std::exchange(m_favoured, favoured) == favoured) return;
  QTimer::singleShot(0, this, [this] {
    if (!isVisible()) return;
    if (!m_sizesWanted) m_isFavourDue = true;
    if (m_maximised == nullptr) applySizes();
  });
}

void DockHost::chooseTab(const QString& title) {
  const auto chosen = std::find_if(m_docks.begin(), m_docks.end(),
                                   [&title](const Dock* each) { return each->windowTitle() == title; });
  if (chosen == m_docks.end()) return;
  choose(m_chosen, **chosen, tabifiedDockWidgets(*chosen));
  Q_EMIT tabChosen((*chosen)->id());
}

void DockHost::childEvent(QChildEvent* event) {
  QMainWindow::childEvent(event);
  // Qt makes a tab bar for docks that share a place, and reuses the bar for other docks.
  auto* tabs = event->polished() ? qobject_cast<QTabBar*>(event->child()) : nullptr;
  if (tabs == nullptr) return;
  // Names are whole. If there is no room for all tabs, a button lists them.
  tabs->setElideMode(Qt::ElideNone);
  tabs->setUsesScrollButtons(true);
  auto* whole = new WholeTabs(*tabs, true);
  narrowTabs();
  const auto takeChoice = [this, tabs](int index) { chooseTab(tabs->tabText(index)); };
  connect(tabs, &QTabBar::tabBarClicked, this, takeChoice);
  connect(whole, &WholeTabs::chosen, this, takeChoice);
}

void DockHost::narrowTabs() {
  constexpr int kNarrowWidth = 800;  // pixels; below this width, three names with wide margins have no room
  const bool isNarrow = width() < kNarrowWidth;
  for (QTabBar* tabs : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    if (tabs->property("isNarrow").toBool() == isNarrow) continue;
    tabs->setProperty("isNarrow", isNarrow);
    tabs->style()->unpolish(tabs);
    tabs->style()->polish(tabs);
    if (auto* whole = tabs->findChild<WholeTabs*>()) whole->fitAgain();
  }
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the bars of tabs.
void DockHost::fitTabs() {
  for (QTabBar* tabs : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    if (auto* whole = tabs->findChild<WholeTabs*>()) whole->fit();
  }
}

std::map<QString, QByteArray> DockHost::layoutStates() const {
  std::map<QString, QByteArray> states = m_states;
  if (!m_sizesWanted) states[layoutName(m_layout)] = m_maximised == nullptr ? arrangement() : m_unmaximised;
  return states;
}

void DockHost::setLayoutStates(std::map<QString, QByteArray> states, LayoutId layout) {
  m_layout = layout;
  m_states = std::move(states);
  arrange();
  const auto kept = m_states.find(layoutName(m_layout));
  if (kept != m_states.end()) arrangeAs(kept->second);
}

void DockHost::arrange() {
  hold();
  m_applying = true;
  for (Dock* dock : m_docks) {
    if (dock->isFloating()) dock->setFloating(false);
    removeDockWidget(dock);
  }
  m_proportions = {};
  const Plan plan = this->plan();
  // Views are made first, because the size of a dock depends on its content.
  const auto open = [](const Cell& cell) {
    for (Dock* own : cell.docks) own->openView();
  };
  for (const Column& column : plan.columns) std::for_each(column.cells.begin(), column.cells.end(), open);
  std::for_each(plan.below.begin(), plan.below.end(), open);
  const auto firstOf = [](const Cell& cell) {
    cell.docks.front()->show();
    return cell.docks.front();
  };

  // The topmost cells of the columns come first, then the cells below, and tabs last. A dock with tabs cannot
  // be split any more: a dock placed next to such a dock would become a tab.
  Dock* left = nullptr;
  for (const Column& column : plan.columns) {
    Dock* head = firstOf(column.cells.front());
    if (left == nullptr)
      addDockWidget(Qt::TopDockWidgetArea, head);
    else
      splitDockWidget(left, head, Qt::Horizontal);
    left = head;
  }
  std::vector<Cell> cells = plan.below;
  for (const Cell& cell : plan.below) addDockWidget(Qt::BottomDockWidgetArea, firstOf(cell));
  for (const Column& column : plan.columns) {
    Dock* above = nullptr;
    for (const Cell& cell : column.cells) {
      Dock* next = firstOf(cell);
      if (above != nullptr) splitDockWidget(above, next, Qt::Vertical);
      above = next;
      cells.push_back(cell);
    }
  }
  for (const Cell& cell : cells) {
    Dock* first = firstOf(cell);
    for (Dock* next : cell.docks) {
      if (next == first) continue;
      tabifyDockWidget(first, next);
      next->show();
    }
    first->raise();
  }
  m_sizesWanted = true;
  m_areSizesDue = true;
  m_applying = false;
  QTimer::singleShot(0, this, &DockHost::applySizes);
}

QByteArray DockHost::arrangement() const {
  QStringList shown;
  for (const Dock* dock : m_docks) {
    if (!dock->isHidden()) shown << dock->id();
  }
  QByteArray bytes;
  QDataStream out(&bytes, QIODevice::WriteOnly);
  out << kArrangement << shown << saveState() << m_proportions.window;
  for (const Place& place : m_proportions.places) out << place.dock->id() << place.size;
  return bytes;
}

void DockHost::arrangeAs(const QByteArray& arrangement) {
  QDataStream in(arrangement);
  QString kind;
  QStringList shown;
  QByteArray state;
  in >> kind >> shown >> state;
  if (in.status() != QDataStream::Ok || kind != kArrangement) return;
  Proportions proportions;  // an older arrangement does not have proportions
  in >> proportions.window;
  while (!in.atEnd()) {
    QString id;
    Place place;
    in >> id >> place.size;
    place.dock = dock(id);
    if (place.dock != nullptr) proportions.places.push_back(place);
  }
  m_applying = true;
  for (Dock* dock : m_docks) {
    if (shown.contains(dock->id())) dock->openView();
  }
  if (restoreState(state)) {
    m_sizesWanted = false;
    m_areSizesDue = false;
    m_proportions = in.status() == QDataStream::Ok ? std::move(proportions) : Proportions();
    // restoreState() shows docks that the state does not know.
    for (Dock* dock : m_docks) {
      if (!shown.contains(dock->id())) dock->hide();
    }
  }
  m_applying = false;
}

void DockHost::applySizes() {
  if (!isVisible()) {
    release();
    return;
  }
  if (m_maximised == nullptr) {
    if (!m_sizesWanted && std::exchange(m_isFavourDue, false)) {
      resizeAll();
      // The docks do not have their new sizes yet.
      QTimer::singleShot(0, this, &DockHost::takeProportions);
    } else if (!m_sizesWanted) {
      resizeInProportion();
    } else if (const Room room = roomIn(height()); room != m_room) {
      // Docks with their own places would become tabs and cover others.
      m_fronts[m_layout] = fronts();
      std::erase_if(m_fronts[m_layout], [this](const Dock* each) { return !m_chosen.contains(each); });
      m_room = room;
      arrange();
      raiseFronts();
      return;
    } else {
      m_areSizesDue = false;
      resizeAll();
    }
  }
  QTimer::singleShot(0, this, &DockHost::settled);
}

int DockHost::sharedHeight(int height) const {
  for (const Place& place : m_proportions.places) {
    const Dock& dock = *place.dock;
    if (dock.isStrip() && !dock.isHidden() && !dock.isFloating()) height -= place.size.height() + 2 * kSpace;
  }
  return height;
}

void DockHost::resizeInProportion() {
  if (m_proportions.places.empty()) {
    takeProportions();
    return;
  }
  // Sizes are set from the kept proportions. With Qt's own distribution, sizes would drift with each change.
  QList<QDockWidget*> docks;
  QList<int> widths;
  QList<int> heights;
  const int before = sharedHeight(m_proportions.window.height());
  const int now = sharedHeight(height());
  for (const Place& place : m_proportions.places) {
    if (place.dock->isHidden() || place.dock->isFloating()) continue;
    docks.append(place.dock);
    widths.append(scaled(place.size.width(), width(), m_proportions.window.width()));
    heights.append(place.dock->isStrip() ? place.size.height() : scaled(place.size.height(), now, before));
  }
  resizeDocks(docks, heights, Qt::Vertical);
  // Rounding differences go to the docks above a strip.
  for (const Place& place : m_proportions.places) {
    if (place.dock->isStrip() && docks.contains(place.dock))
      resizeDocks({place.dock}, {place.size.height()}, Qt::Vertical);
  }
  resizeDocks(docks, widths, Qt::Horizontal);
}

void DockHost::resizeAll() {
  // On the canvas, the user edits. So each node of a usual query must be large enough for the mouse.
  const bool isEdited = m_favoured != nullptr && m_favoured->id() == QLatin1String("canvas");
  const int favouredHeight = isEdited ? 90 : 66;  // percent
  const Plan plan = this->plan();
  const QList<QDockWidget*> beside =
      m_favoured == nullptr ? QList<QDockWidget*>() : tabifiedDockWidgets(m_favoured);
  const auto hasFavoured = [&](const Cell& cell) {
    return std::any_of(cell.docks.begin(), cell.docks.end(), [&](Dock* own) {
      return m_favoured != nullptr && (own == m_favoured || beside.contains(own));
    });
  };
  QList<QDockWidget*> columns;
  std::vector<int> widthShares;
  std::optional<std::size_t> favouredColumn;
  bool isCanvasColumn = false;
  const int below = plan.below.empty() ? 0 : kStripHeight + 2 * kSpace;
  for (const Column& column : plan.columns) {
    QList<QDockWidget*> cells;
    std::vector<int> shares;
    std::optional<std::size_t> favoured;
    for (const Cell& cell : column.cells) {
      if (hasFavoured(cell)) favoured = shares.size();
      cells.append(cell.docks.front());
      shares.push_back(cell.share);
    }
    if (cells.empty()) continue;
    if (favoured) {
      raiseShare(shares, *favoured, favouredHeight);
      favouredColumn = widthShares.size();
      isCanvasColumn = std::ranges::any_of(column.cells, [](const Cell& cell) {
        return std::ranges::any_of(cell.docks,
                                   [](const Dock* own) { return own->id() == QLatin1String("canvas"); });
      });
    }
    columns.append(cells.front());
    widthShares.push_back(column.share);
    QList<int> heights;
    for (const int share : shares) heights.append((height() - below) * share / 100);
    for (std::size_t i = 0; favoured && i < column.cells.size(); ++i) {
      int& given = heights[static_cast<int>(*favoured)];
      // The favoured dock keeps a third of a low window.
      const int missing =
          std::min(leastHeight(column.cells[i], m_layout, isEdited) - heights[static_cast<int>(i)],
                   given - (height() - below) / 3);
      if (i == *favoured || missing <= 0) continue;
      heights[static_cast<int>(i)] += missing;
      given -= missing;
    }
    resizeDocks(cells, heights, Qt::Vertical);
  }
  if (favouredColumn)
    takeFromLargest(widthShares, *favouredColumn, favouredWidth(m_layout, isEdited, isCanvasColumn));
  QList<int> widths;
  for (const int share : widthShares) widths.append(width() * share / 100);
  // A strip gets only its minimum height. Qt would also resize it with the window.
  for (const Cell& cell : plan.below) {
    Dock* strip = cell.docks.front();
    resizeDocks({strip}, {std::max(kStripHeight, strip->minimumSizeHint().height())}, Qt::Vertical);
  }
  resizeDocks(columns, widths, Qt::Horizontal);
}

void DockHost::followStrips() {
  int least = 0;
  for (const Dock* each : m_docks) {
    if (each->isStrip() && each->isVisible() && !each->isFloating())
      least += each->minimumSizeHint().height();
  }
  const int before = std::exchange(m_stripHeight, least);
  if (before != 0 && least != 0 && before != least && !m_applying)
    QTimer::singleShot(0, this, &DockHost::applySizes);
}

bool DockHost::event(QEvent* event) {
  if (event->type() == QEvent::LayoutRequest) followStrips();
  if (event->type() == QEvent::MouseButtonPress)
    m_isSizing = isSeparator(static_cast<QMouseEvent*>(event)->position().toPoint());
  if (event->type() == QEvent::MouseMove && m_isSizing) m_sizesWanted = false;
  if (event->type() == QEvent::MouseButtonRelease && std::exchange(m_isSizing, false) && !m_sizesWanted)
    QTimer::singleShot(0, this, &DockHost::takeProportions);
  const bool isHandled = QMainWindow::event(event);
  // Qt adds and removes tabs in its layout.
  if (event->type() == QEvent::LayoutRequest) fitTabs();
  return isHandled;
}

void DockHost::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  narrowTabs();
  if (!m_applying) QTimer::singleShot(0, this, &DockHost::applySizes);
}

void DockHost::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  QTimer::singleShot(0, this, &DockHost::applySizes);
}

}  // namespace spanscope::ui

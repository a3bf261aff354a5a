// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/view.h"
#include "ui/window/dock.h"

#include <QByteArray>
#include <QMainWindow>
#include <QString>

#include <map>
#include <set>
#include <vector>

namespace spanscope::ui {

/// The name of a layout in settings and on the command line: "author", "explain", "measure", "diagnose".
QString layoutName(LayoutId layout);

/// Contains the docks and arranges them in one of the layouts. The host keeps the user's changes to a
/// layout while another layout is shown.
class DockHost : public QMainWindow {
  Q_OBJECT
 public:
  explicit DockHost(QWidget* parent = nullptr);

  /// Adds a dock and takes ownership of the dock. The order of calls is the order in the View menu.
  /// `staysInSight`: bring() never covers this dock.
  void add(Dock* dock, std::vector<ViewPlace> places, bool staysInSight = false);
  const std::vector<Dock*>& docks() const { return m_docks; }
  Dock* dock(const QString& id) const;  ///< nullptr: there is no dock with this id

  LayoutId layout() const { return m_layout; }
  void setLayout(LayoutId layout);
  /// Restores the original state of the current layout.
  void resetLayout();
  /// Shows a dock at the front in the current layout, and gives it the focus.
  void reveal(const QString& id);
  /// Like reveal(), but the focus stays where it is unless the dock floats. A dock without a place in the
  /// current layout becomes a tab of the largest dock. No tab is added to a strip (see
  /// Dock::isStrip), or to a dock that stays in sight.
  void bring(const QString& id);
  /// Brings a dock to the front of the tabs that share its place. The focus stays where it is. Does nothing
  /// in these cases:
  /// - The user or bring() has chosen another of these tabs.
  /// - The user has closed or floated the dock.
  /// - A dock is maximised.
  void offer(const QString& id);
  /// Gives a dock most of the room, until the user resizes docks. Empty: no dock.
  void favour(const QString& id);

  /// Gives one dock the space of all docks, until restore() or another layout. A floating `dock` first
  /// returns to the window. Other floating docks stay. If a dock is already maximised, restores all docks
  /// instead.
  void toggleMaximised(Dock* dock);
  void restore();
  /// While `on` is true, showing and maximising docks changes no stored sizes. keepSizes(false) applies the
  /// stored sizes.
  void keepSizes(bool on);
  const Dock* maximised() const { return m_maximised; }  ///< nullptr: no dock is maximised
  /// The dock that contains the widget; nullptr: no dock does.
  Dock* dockOf(QWidget* widget) const;

  /// The states of layouts that the user has changed, by layoutName().
  std::map<QString, QByteArray> layoutStates() const;
  /// Sets the stored states of layouts, and shows this layout in its stored state.
  void setLayoutStates(std::map<QString, QByteArray> states, LayoutId layout);
  /// Whether the user has changed the arrangement of the current layout.
  bool isRearranged() const { return !m_sizesWanted; }

 Q_SIGNALS:
  void layoutChanged();
  void rearranged();  ///< the user has changed the arrangement
  void settled();     ///< the docks have their final sizes
  void tabChosen(
      const QString& id);  ///< the user has brought a dock to the front of its tabs, or opened a dock

 protected:
  bool event(QEvent* event) override;
  void childEvent(QChildEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Place {
    Dock* dock = nullptr;
    QSize size;
    bool isFront = false;  ///< the dock is in front of the tabs that share its place
  };
  /// The sizes that the user has given to docks, in a window of this size.
  struct Proportions {
    QSize window;
    std::vector<Place> places;
  };

  struct Plan;
  /// The plan of the current layout for the current room.
  Plan plan() const;
  void arrange();
  /// Shows a dock that has no place in the current layout as a tab beside others.
  void giveRoom(Dock* dock);
  /// Handles a change of the arrangement by the user.
  void noteChange();
  /// Stores the current sizes as the user's choice.
  void takeProportions();
  void chooseTab(const QString& title);
  /// The height of the tabs above a dock; 0 if no other dock shares its place.
  int tabsAbove(const Dock& dock) const;
  /// The visible docks. If docks share a place as tabs, only the front one is visible.
  std::vector<Dock*> fronts() const;
  void raiseFronts();
  /// The current arrangement as bytes: the shown docks, their places and their sizes.
  QByteArray arrangement() const;
  /// Applies an arrangement. Ignores bytes that are not an arrangement.
  void arrangeAs(const QByteArray& arrangement);
  void applySizes();
  /// Stops painting until the docks have their sizes.
  void hold();
  void release();
  /// Resizes docks when a strip needs more or less room than before. Without this function, Qt takes
  /// room from other docks, but never returns the room.
  void followStrips();
  /// Gives tabs small margins if the window is narrow, so that all names have room.
  void narrowTabs();
  /// Hides tabs that have no room.
  void fitTabs();
  void resizeAll();
  /// Gives each dock the share of the window that it had when the user resized docks.
  void resizeInProportion();
  /// The height that docks share in a window of this height. Strips below these docks keep their own heights.
  int sharedHeight(int height) const;

  std::vector<Dock*> m_docks;
  std::map<const Dock*, std::vector<ViewPlace>> m_placesOf;
  std::set<const Dock*> m_edited;  ///< docks that stay in sight
  LayoutId m_layout = LayoutId::Author;
  std::map<QString, QByteArray> m_states;
  std::map<LayoutId, std::vector<Dock*>> m_fronts;  ///< front docks of the layouts that were shown before
  Dock* m_favoured = nullptr;                       ///< nullptr: favour() was called for no dock
  Dock* m_maximised = nullptr;
  QByteArray m_unmaximised;        ///< the arrangement before a dock was maximised
  std::vector<Place> m_places;     ///< places of the docks before m_maximised was maximised
  Proportions m_proportions;       ///< without places while the layout is in its original state
  std::set<const Dock*> m_chosen;  ///< tabs that the user or bring() has put in front
  int m_stripHeight = 0;           ///< min height of all visible strips together
  Room m_room = Room::Full;        ///< the original state depends on this room
  bool m_sizesWanted = true;       ///< the layout is in its original state, so sizes follow the window
  bool m_keepsSizes = false;
  bool m_areSizesDue = false;  ///< the docks are arranged, but do not have their sizes yet
  bool m_isFavourDue = false;  ///< m_favoured does not have its size yet, e.g. while a dock is maximised
  bool m_isHeld = false;
  bool m_applying = false;  ///< the host itself is moving docks
  bool m_isSizing = false;  ///< the user is dragging the line between docks
};

}  // namespace spanscope::ui

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

/// The name of a layout in settings and on the command line: "author", "explain", "measure".
QString layoutName(LayoutId layout);

/// Holds the docks and arranges them in one of the three layouts. It keeps a person's changes to a layout
/// while another layout is shown.
class DockHost : public QMainWindow {
  Q_OBJECT
 public:
  explicit DockHost(QWidget* parent = nullptr);

  /// Adds a dock and takes ownership of it. The order of calls is the order in the View menu.
  /// `staysInSight`: no dock that is brought covers it.
  void add(Dock* dock, std::vector<ViewPlace> places, bool staysInSight = false);
  const std::vector<Dock*>& docks() const { return m_docks; }
  Dock* dock(const QString& id) const;  ///< nullptr: there is no dock with this id

  LayoutId layout() const { return m_layout; }
  void setLayout(LayoutId layout);
  /// Restores the present layout to its original state.
  void resetLayout();
  /// Brings a dock to the front, in the present layout.
  void reveal(const QString& id);
  /// The same, but a dock that the present layout does not have gets a place as a tab beside the largest one
  /// that has none of its own, and the focus stays where it is.
  void bring(const QString& id);
  /// Brings a dock to the front of the tabs that share its place, unless the person has chosen another of
  /// these tabs, or has closed, floated or maximised docks so that it has no such place. The focus stays
  /// where it is.
  void offer(const QString& id);

  /// Gives one dock the room of all docks, until restore() or another layout. Floating docks stay; if `dock`
  /// floats, it is put into the window first. If a dock is maximised already, it is put back instead.
  void toggleMaximised(Dock* dock);
  void restore();
  /// While on, what is shown and maximised changes no size that docks are to have; off again, they get those.
  void keepSizes(bool on);
  const Dock* maximised() const { return m_maximised; }  ///< nullptr: no dock is maximised
  /// The dock that holds the widget; nullptr: no dock does.
  Dock* dockOf(QWidget* widget) const;

  /// The states of layouts that a person has changed, by layoutName().
  std::map<QString, QByteArray> layoutStates() const;
  /// Takes kept states and shows this layout as it was kept.
  void setLayoutStates(std::map<QString, QByteArray> states, LayoutId layout);
  /// Whether a person has changed the arrangement of the present layout.
  bool isRearranged() const { return !m_sizesWanted; }

 Q_SIGNALS:
  void layoutChanged();
  void rearranged();  ///< the person has changed the arrangement
  void settled();     ///< the docks have their final sizes
  void tabChosen(
      const QString& id);  ///< the person has brought a dock to the front of its tabs, or opened it

 protected:
  bool event(QEvent* event) override;
  void childEvent(QChildEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Place {
    Dock* dock = nullptr;
    QSize size;
    bool isFront = false;  ///< it is in front of the tabs that share its place
  };
  /// The sizes that a person has given to docks, in a window of this size.
  struct Proportions {
    QSize window;
    std::vector<Place> places;
  };

  struct Plan;
  /// The present layout, in the present room.
  Plan plan() const;
  void arrange();
  /// Gives a dock that is shown and stands in no place of the present layout one, as a tab beside others.
  void giveRoom(Dock* dock);
  /// The person has changed the arrangement.
  void noteChange();
  /// Takes the present sizes as those that the person wants.
  void takeProportions();
  void chooseTab(const QString& title);
  /// The height of the tabs above a dock; 0 if no other dock shares its place.
  int tabsAbove(const Dock& dock) const;
  /// The docks in sight. Of docks that share a place as tabs, only the front one.
  std::vector<Dock*> fronts() const;
  void raiseFronts();
  /// The present arrangement as bytes: which docks are shown, and where.
  QByteArray arrangement() const;
  /// Applies an arrangement. Bytes that are no arrangement change nothing.
  void arrangeAs(const QByteArray& arrangement);
  void applySizes();
  /// Shows nothing of the docks until they have their sizes.
  void hold();
  void release();
  /// Gives docks their sizes again when a strip needs more room than before, or less. Qt alone would only
  /// ever take room from other docks.
  void followStrips();
  void resizeAll();
  /// Gives docks the same parts of the window that they had when the person sized them.
  void resizeInProportion();
  /// The height that docks share, in a window of this height: strips below them keep theirs.
  int sharedHeight(int height) const;

  std::vector<Dock*> m_docks;
  std::map<const Dock*, std::vector<ViewPlace>> m_placesOf;
  std::set<const Dock*> m_edited;  ///< that stay in sight
  LayoutId m_layout = LayoutId::Author;
  std::map<QString, QByteArray> m_states;
  std::map<LayoutId, std::vector<Dock*>> m_fronts;  ///< front docks of the layouts that were shown before
  Dock* m_maximised = nullptr;
  QByteArray m_unmaximised;        ///< the arrangement before a dock was maximised
  std::vector<Place> m_places;     ///< places of the docks when m_maximised was maximised
  Proportions m_proportions;       ///< without places as long as the layout is in its original state
  std::set<const Dock*> m_chosen;  ///< tabs that the person has brought to the front
  int m_stripHeight = 0;           ///< the least that all strips in sight need together
  Room m_room = Room::Full;        ///< the original state is the one for this room
  bool m_sizesWanted = true;       ///< the layout is in its original state, so sizes follow the window
  bool m_keepsSizes = false;
  bool m_areSizesDue = false;  ///< the docks have been arranged, but have not got their sizes yet
  bool m_isHeld = false;
  bool m_applying = false;  ///< the host itself is moving docks
  bool m_isSizing = false;  ///< a person is dragging the line between docks
};

}  // namespace spanscope::ui

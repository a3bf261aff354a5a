// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/window/dock.h"

#include <QByteArray>
#include <QMainWindow>
#include <QString>

#include <map>
#include <vector>

namespace spanscope::ui {

enum class LayoutId { Author, Explain, Measure };

/// The name of a layout in settings and on the command line: "author", "explain", "measure".
QString layoutName(LayoutId layout);

/// Holds the docks and arranges them in one of the three layouts. It keeps a person's changes to a layout
/// while another layout is shown.
class DockHost : public QMainWindow {
  Q_OBJECT
 public:
  explicit DockHost(QWidget* parent = nullptr);

  /// Adds a dock and takes ownership of it. The order of calls is the order in the View menu.
  void add(Dock* dock);
  const std::vector<Dock*>& docks() const { return m_docks; }
  Dock* dock(const QString& id) const;  ///< nullptr: there is no dock with this id

  LayoutId layout() const { return m_layout; }
  void setLayout(LayoutId layout);
  /// Restores the present layout to its original state.
  void resetLayout();
  /// Brings a dock to the front, in the present layout.
  void reveal(const QString& id);

  /// Gives one dock the room of all docks, until restore() or another layout. Floating docks stay; if `dock`
  /// floats, it is put into the window first. If a dock is maximised already, it is put back instead.
  void toggleMaximised(Dock* dock);
  void restore();
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
  void settled();  ///< the docks have their final sizes

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void arrange();
  /// The docks in sight. Of docks that share a place as tabs, only the front one.
  std::vector<Dock*> fronts() const;
  void raiseFronts();
  /// The present arrangement as bytes: which docks are shown, and where.
  QByteArray arrangement() const;
  /// Applies an arrangement. Bytes that are no arrangement change nothing.
  void arrangeAs(const QByteArray& arrangement);
  void applySizes();
  void resizeAll();

  std::vector<Dock*> m_docks;
  LayoutId m_layout = LayoutId::Author;
  std::map<QString, QByteArray> m_states;
  std::map<LayoutId, std::vector<Dock*>> m_fronts;  ///< front docks of the layouts that were shown before
  Dock* m_maximised = nullptr;
  QByteArray m_unmaximised;  ///< the arrangement before a dock was maximised
  struct Place {
    Dock* dock = nullptr;
    QSize size;
    bool isFront = false;  ///< it is in front of the tabs that share its place
  };
  std::vector<Place> m_places;  ///< places of the docks when m_maximised was maximised
  bool m_sizesWanted = true;    ///< the layout is in its original state, so sizes follow the window
  bool m_applying = false;      ///< the host itself is moving docks
  bool m_isSizing = false;      ///< a person is dragging the line between docks
};

}  // namespace spanscope::ui

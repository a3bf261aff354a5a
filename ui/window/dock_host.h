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

/// "author", "explain", "measure": in settings and on the command line.
QString layoutName(LayoutId layout);

/// Holds the docks and arranges them in one of the three layouts; how a person has changed a layout is kept
/// while another one is shown.
class DockHost : public QMainWindow {
  Q_OBJECT
 public:
  explicit DockHost(QWidget* parent = nullptr);

  /// Takes ownership. The order of calls is that of the View menu.
  void add(Dock* dock);
  const std::vector<Dock*>& docks() const { return m_docks; }
  Dock* dock(const QString& id) const;  ///< nullptr: there is none

  LayoutId layout() const { return m_layout; }
  void setLayout(LayoutId layout);
  /// The present layout as it comes.
  void resetLayout();
  /// Brings a dock to the front, in whatever layout.
  void reveal(const QString& id);

  /// Gives one dock the room of all, until restore() or another layout; the docks that float stay. What is
  /// maximised is put back instead. A dock that floats is put into the window first.
  void toggleMaximised(Dock* dock);
  void restore();
  const Dock* maximised() const { return m_maximised; }  ///< nullptr: none is
  /// The dock that holds the widget; nullptr: none does.
  Dock* dockOf(QWidget* widget) const;

  /// By layoutName; those that are as they come are not among them.
  std::map<QString, QByteArray> layoutStates() const;
  /// Shows this layout, as it was kept.
  void setLayoutStates(std::map<QString, QByteArray> states, LayoutId layout);
  /// Whether a person has arranged the present layout otherwise than it comes.
  bool isRearranged() const { return !m_sizesWanted; }

 Q_SIGNALS:
  void layoutChanged();
  void settled();  ///< the docks have the sizes that they will keep

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void arrange();
  /// The docks that are seen: of those that share a place as tabs the one in front.
  std::vector<Dock*> fronts() const;
  void raiseFronts();
  /// Which docks are shown, and where.
  QByteArray arrangement() const;
  /// What is no arrangement changes nothing.
  void arrangeAs(const QByteArray& arrangement);
  void applySizes();
  void resizeAll();

  std::vector<Dock*> m_docks;
  LayoutId m_layout = LayoutId::Author;
  std::map<QString, QByteArray> m_states;
  std::map<LayoutId, std::vector<Dock*>> m_fronts;  ///< of the layouts that were shown before
  Dock* m_maximised = nullptr;
  QByteArray m_unmaximised;  ///< the layout as it was before
  struct Place {
    Dock* dock = nullptr;
    QSize size;
    bool isFront = false;  ///< of the tabs that share its place
  };
  std::vector<Place> m_places;  ///< of the docks that were hidden for it
  bool m_sizesWanted = true;    ///< the layout is as it comes: sizes follow the window
  bool m_applying = false;      ///< the docks are moved by the host itself
  bool m_isSizing = false;      ///< a person drags the line between docks
};

}  // namespace spanscope::ui

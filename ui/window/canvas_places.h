// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/editor/canvas.h"

#include <QObject>

#include <cstdint>
#include <map>

namespace spanscope::ui {

/// Remembers the place and zoom of the canvas for each tab. In a tab without a known place, the canvas shows
/// the whole query.
class CanvasPlaces : public QObject {
  Q_OBJECT
 public:
  explicit CanvasPlaces(Canvas& canvas) : m_canvas(canvas) {}

  /// Shows a document at the remembered place of its tab, or the whole query. 0 and nullptr: no document.
  void show(std::uint32_t tab, DocumentModel* model);
  /// Remembers the current place for the shown tab.
  void note();
  /// Forgets a closed tab.
  void forget(std::uint32_t tab);
  /// The place of a tab; nullptr: the canvas shows the whole query.
  const CanvasPlace* find(std::uint32_t tab) const;
  /// Moves the canvas to a place, and remembers the place for the shown tab.
  void put(const CanvasPlace& place);
  /// Shows the remembered place again when the docks of a new window have their sizes.
  void putAgain();

  /// Makes the canvas show the whole query once the docks have their sizes.
  void fitLater() { m_fitWanted = true; }
  /// Like fitLater(), but waits at most this time.
  void fitLater(int milliseconds);
  /// Shows the whole query if fitLater() was called.
  void fit();

 private:
  Canvas& m_canvas;
  std::uint32_t m_shown = 0;                      ///< the tab that the canvas shows now
  std::map<std::uint32_t, CanvasPlace> m_places;  ///< by tab
  bool m_fitWanted = false;
};

}  // namespace spanscope::ui

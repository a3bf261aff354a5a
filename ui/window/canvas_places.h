// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/editor/canvas.h"

#include <QObject>

#include <cstdint>
#include <map>

namespace spanscope::ui {

/// Remembers at which place the canvas looks in each tab. Where no place is known, the canvas shows the whole
/// query.
class CanvasPlaces : public QObject {
  Q_OBJECT
 public:
  explicit CanvasPlaces(Canvas& canvas) : m_canvas(canvas) {}

  /// Shows a document where its tab was left, or as a whole. 0 and nullptr: no document.
  void show(std::uint32_t tab, DocumentModel* model);
  /// Remembers the present place for its tab.
  void note();
  /// Forgets a tab that is closed.
  void forget(std::uint32_t tab);
  /// The place of a tab; nullptr: the canvas shows all of it.
  const CanvasPlace* find(std::uint32_t tab) const;
  /// Looks at a place in the shown tab.
  void put(const CanvasPlace& place);
  /// Looks there once more when the docks of a new window have their sizes.
  void putAgain();

  /// The canvas should show the whole query once the docks have their sizes.
  void fitLater() { m_fitWanted = true; }
  /// The same, and at the latest when so many milliseconds have passed.
  void fitLater(int milliseconds);
  /// Shows the whole query if that is still to be done.
  void fit();

 private:
  Canvas& m_canvas;
  std::uint32_t m_shown = 0;                      ///< tab that the canvas shows now
  std::map<std::uint32_t, CanvasPlace> m_places;  ///< by tab
  bool m_fitWanted = false;
};

}  // namespace spanscope::ui

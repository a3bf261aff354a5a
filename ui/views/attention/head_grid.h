// SPDX-License-Identifier: GPL-3.0-or-later
// Small heat maps of the answer's attention, one for each head of each layer. The user sees which heads
// attend to a document, and chooses a head.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/painted_scroll.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace spanscope::ui {

struct HeadMap {
  std::int32_t layer = 0;
  std::int32_t head = 0;
  /// The share of one source in the head's attention on all sources, 0 … 1. The source is the selected
  /// source, or else the source with the most attention.
  double share = -1;
  std::size_t most = 0;  ///< index in HeadGrid::sources of the source with the most attention.
  /// [tokens][sources], without first tokens. The largest value of a map is 1.
  std::vector<float> mass;
  bool operator==(const HeadMap&) const = default;
};

struct HeadGrid {
  RequestId request = 0;                ///< 0: no attention was recorded by head
  std::vector<std::uint32_t> sources;   ///< sections of the prompt
  std::vector<QString> names;           ///< names of the sources
  std::optional<std::size_t> selected;  ///< index in `sources`
  std::size_t tokens = 0;
  /// If a source is selected, the heads with the most attention on it come first. Otherwise the order is by
  /// layer and head.
  std::vector<HeadMap> maps;
  bool operator==(const HeadGrid&) const = default;

  bool isEmpty() const { return maps.empty(); }
};

/// The grid of the shown request.
HeadGrid headGrid(const ViewInput& input);

/// "layer 2, head 1: 84 % of its attention on sources is on document 7"
QString headText(const HeadGrid& grid, std::size_t map);
/// "Heads that attend to document 7, strongest first"
QString headGridTitle(const HeadGrid& grid);

// Shows the small maps of a HeadGrid, wrapped to the width.

class HeadGridArea : public PaintedScroll {
  Q_OBJECT
 public:
  explicit HeadGridArea(QWidget* parent = nullptr);

  /// `chosen` is the layer and head that the large map shows.
  void showGrid(const HeadGrid& grid, std::optional<std::pair<std::int32_t, std::int32_t>> chosen,
                const Theme& theme);
  const HeadGrid& grid() const { return m_grid; }
  QRect mapRect(std::size_t map) const;  ///< in content coordinates, title included

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;

 Q_SIGNALS:
  void chosen(int layer, int head);
  void closed();  ///< Escape

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int columns() const;
  std::optional<std::size_t> mapAt(const QPoint& place) const;
  void paintMap(QPainter& painter, std::size_t map) const;

  HeadGrid m_grid;
  std::optional<std::pair<std::int32_t, std::int32_t>> m_chosen;
  std::size_t m_current = 0;  ///< the map from which the arrow keys move
};

}  // namespace spanscope::ui

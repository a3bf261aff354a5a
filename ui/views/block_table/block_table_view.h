// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the physical block of each virtual block, in one row for each request.
#pragma once

#include "ui/views/block_table/block_table_area.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/view.h"

#include <QPointer>

#include <optional>
#include <vector>

namespace spanscope::ui {

class BlockLegend;
class BlockTableArea;

class BlockTableView : public InputView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit BlockTableView(QWidget* parent = nullptr);

  QWidget* takeTitleControls() override;
  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  /// Performs "view.larger" and "view.usual-size", which set the size of cells for a projector.
  void perform(const QString& command) override;

  const BlockTable& table() const { return m_table; }

  const QWidget& placesIn() const override;
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

 protected:
  void refresh() override;

 private:
  void select(const CellPlace& place);
  void stopMotion() override;
  void showMotion() override;

  BlockHistory m_history;
  BlockTable m_table;
  std::optional<TableMotion> m_motion;  ///< motion of the moment, at the current input
  Selection m_shown;                    ///< the last selection that the view scrolled to
  RequestId m_request = 0;              ///< the last request whose row the view scrolled to
  bool m_showsMiss = false;             ///< the view has scrolled to the first miss of this row
  QString m_summary;
  BlockTableArea* m_area;
  QPointer<BlockLegend> m_legend;
};

}  // namespace spanscope::ui

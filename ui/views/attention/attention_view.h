// SPDX-License-Identifier: GPL-3.0-or-later
// The attention view: a bar for each source that the answer attends to, and below an attention heat map.
#pragma once

#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/share_bars.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/view.h"

#include <QRectF>

#include <cstdint>
#include <optional>
#include <vector>

class QLabel;

namespace spanscope::ui {

class AttentionControls;
class AttentionLegend;
class AttentionPlot;
class HeadGridArea;
class ReplayStrip;
class ShareBars;
struct ReplayOffer;

class AttentionView : public RunView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit AttentionView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  /// Returns the min size at which nothing covers the map. The height depends on the width.
  QSize minimumSizeHint() const override;

  const QWidget& placesIn() const override;
  /// Returns the row and the column of the selected token or block in the map. Otherwise, and for a selected
  /// node, returns the columns of the sections that contain the selection.
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

  const AttentionModel& model() const { return m_model; }
  const AttentionOptions& options() const { return m_options; }
  /// Sets all options except the grain (tokens or blocks per cell). The view chooses the grain by its size.
  void setOptions(const AttentionOptions& options);
  void setShareOptions(const ShareOptions& options);
  AttentionScale scale() const { return m_scale; }
  void setScale(AttentionScale scale);
  ShareBars& bars() { return *m_bars; }
  /// Whether the view shows the attention of each head in place of the map. The user can choose a head there.
  bool showsHeads() const { return m_showsHeads; }
  void setShowsHeads(bool shows);
  HeadGridArea& heads() { return *m_heads; }
  AttentionPlot& plot() { return *m_plot; }
  /// The replay that the view offers for the shown layer and head.
  const ReplayOffer& replay() const;
  ReplayStrip& replayStrip() { return *m_strip; }
  QString readout() const;

  bool canPerform(const QString& command) const override;
  void perform(const QString& command) override;

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void connectControls();
  /// The areas of the map, in cells, that show the selection.
  std::vector<QRectF> stretchesOf(const Selection& selection) const;
  void connectPlot();
  /// `plot` is the size of the plot in pixels.
  void refreshFor(const QSize& plot);
  /// Makes rows and columns as fine as the size allows.
  AttentionOptions fitted(AttentionOptions options, const QSize& plot) const;
  void selectPart(std::size_t part);
  /// Whether the shown request has or could have attention to show.
  bool isMapShown() const;
  QString hint() const;
  QString noKeysText() const;
  /// Shows this layer and head from now on, also after goBack().
  void choose(const std::optional<std::int32_t>& layer, const std::optional<std::int32_t>& head);
  void showRows(AttentionRowSet rows);
  void showOffer();
  /// Puts the model into the widgets around the map.
  void showAround();
  void stopMotion() override;
  void showMotion() override;
  void showCell(int row, int column);
  void selectCell(int row, int column);
  void openCell(int row, int column);
  void goBack();
  /// Shows the request with other options. Escape leads back.
  void open(const AttentionOptions& options);

  AttentionOptions m_options;
  std::vector<AttentionOptions> m_back;  ///< the shown options before each step
  ShareOptions m_shareOptions;
  AttentionScale m_scale = AttentionScale::Linear;
  ShareBars* m_bars;
  ReplayStrip* m_strip;
  AttentionModel m_model;
  /// The content at the beginning of the animation, for the current input and options.
  struct Before {
    ShareModel shares;
    std::size_t rows = 0;
  };
  std::optional<Before> m_before;
  AttentionPlot* m_plot;
  HeadGridArea* m_heads;
  bool m_showsHeads = false;
  AttentionLegend* m_legend;
  QLabel* m_readout;
  AttentionControls* m_controls;
};

}  // namespace spanscope::ui

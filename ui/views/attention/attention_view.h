// SPDX-License-Identifier: GPL-3.0-or-later
// Where the answer looked: a bar for each source, and below a heat map of rows by keys.
#pragma once

#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/attention_shares.h"
#include "ui/views/common/run_view.h"

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

class AttentionView : public RunView {
  Q_OBJECT
 public:
  explicit AttentionView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const AttentionModel& model() const { return m_model; }
  const AttentionOptions& options() const { return m_options; }
  /// The grain is the view's own choice, by the room that there is.
  void setOptions(const AttentionOptions& options);
  const ShareOptions& shareOptions() const { return m_shareOptions; }
  void setShareOptions(const ShareOptions& options);
  AttentionScale scale() const { return m_scale; }
  void setScale(AttentionScale scale);
  ShareBars& bars() { return *m_bars; }
  /// In place of the map: what each head read, to choose one from.
  bool showsHeads() const { return m_showsHeads; }
  void setShowsHeads(bool shows);
  HeadGridArea& heads() { return *m_heads; }
  AttentionPlot& plot() { return *m_plot; }
  /// What could be computed again of what is in view.
  const ReplayOffer& replay() const;
  ReplayStrip& replayStrip() { return *m_strip; }
  QString readout() const;

 Q_SIGNALS:
  void replayChanged();

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void connectControls();
  void connectPlot();
  /// `plot`: its size in pixels.
  void refreshFor(const QSize& plot);
  /// With rows and columns as fine as there is room.
  AttentionOptions fitted(AttentionOptions options, const QSize& plot) const;
  void selectSegment(std::uint32_t segment);
  /// Of the request in view something is there, or could be.
  bool isMapShown() const;
  QString hint() const;
  QString noKeysText() const;
  /// Of the layer and the head that are shown from here on, also after steps back.
  void choose(const std::optional<std::int32_t>& layer, const std::optional<std::int32_t>& head);
  void showRows(AttentionRowSet rows);
  void showOffer();
  /// Puts the model into the widgets around the map.
  void showAround();
  void showCell(int row, int column);
  void selectCell(int row, int column);
  void openCell(int row, int column);
  void goBack();
  /// Another look at the same, from which Escape leads back.
  void open(const AttentionOptions& options);

  AttentionOptions m_options;
  std::vector<AttentionOptions> m_back;  ///< what was shown before each step
  ShareOptions m_shareOptions;
  AttentionScale m_scale = AttentionScale::Linear;
  ShareBars* m_bars;
  ReplayStrip* m_strip;
  AttentionModel m_model;
  AttentionPlot* m_plot;
  HeadGridArea* m_heads;
  bool m_showsHeads = false;
  AttentionLegend* m_legend;
  QLabel* m_readout;
  AttentionControls* m_controls;
};

}  // namespace spanscope::ui

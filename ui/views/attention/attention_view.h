// SPDX-License-Identifier: GPL-3.0-or-later
// The attention view: how all attention of an answer is divided, and below the words of the documents or an
// attention heat map.
#pragma once

#include "ui/views/attention/attention_controls.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/share_bar.h"
#include "ui/views/attention/source_words.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/view.h"

#include <QRectF>

#include <cstdint>
#include <optional>
#include <vector>

class QLabel;

namespace spanscope::ui {

class AnswerTokens;
class AttentionLegend;
class AttentionPlot;
class HeadGridArea;
class TokenStripArea;

class AttentionView : public RunView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit AttentionView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  /// Returns the min size at which nothing covers the map. The height depends on the width.
  QSize minimumSizeHint() const override;

  const QWidget& placesIn() const override;
  /// Returns the places of the selected tokens, or the lines of the selected section. In the map, returns the
  /// row and the column of the selected token or block. Otherwise, and for a selected node, returns the
  /// columns of the sections that contain the selection.
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

  const AttentionModel& model() const { return m_model; }
  const AttentionOptions& options() const { return m_options; }
  /// Sets all options except the grain (tokens or blocks per cell). The view chooses the grain by its size.
  void setOptions(const AttentionOptions& options);
  AttentionScale scale() const { return m_scale; }
  void setScale(AttentionScale scale);
  ShareBar& bar() { return *m_bar; }
  AttentionDisplay display() const { return m_display; }
  void setDisplay(AttentionDisplay display);
  const SourceWords& words() const { return m_words; }
  TokenStripArea& wordsArea() { return *m_area; }
  AnswerTokens& answer() { return *m_answer; }
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
  /// Whether the settings of the shown run recorded no attention.
  bool wasRecordingOff() const;
  void resizeEvent(QResizeEvent* event) override;

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
  /// Shows the words, and scrolls to the source to look at if another one is selected.
  void showWords();
  /// Gives the answer the height that it needs, but at most a quarter of the view.
  int answerHeight(const QSize& view) const;
  void paintWords(QPainter& painter, QRect rest, int answer);
  void paintMap(QPainter& painter, const QRect& rest);
  void paintHeads(QPainter& painter, const QRect& rest);
  /// The places of a section's tokens with its name, or of selected tokens, in the viewport of the words.
  std::vector<QRect> wordPlaces(const Selection& part) const;
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
  AttentionScale m_scale = AttentionScale::Linear;
  ShareBar* m_bar;
  ReplayStrip* m_strip;
  AttentionModel m_model;
  /// The content at the beginning of the animation, for the current input and options.
  struct Before {
    ShareModel shares;
    std::size_t rows = 0;
  };
  std::optional<Before> m_before;
  SourceWords m_words;
  std::size_t m_revealed = 0;  ///< SourceWords::first at the last scroll
  AttentionDisplay m_display = AttentionDisplay::Words;
  AnswerTokens* m_answer;
  QLabel* m_note;  ///< what the bars under the words mean
  TokenStripArea* m_area;
  AttentionPlot* m_plot;
  HeadGridArea* m_heads;
  AttentionLegend* m_legend;
  QLabel* m_readout;
  AttentionControls* m_controls;
};

}  // namespace spanscope::ui

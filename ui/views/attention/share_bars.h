// SPDX-License-Identifier: GPL-3.0-or-later
// A bar chart of the document shares: how the answer's attention is divided among the sections of the prompt.
#pragma once

#include "ui/session/answer_shares.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/item_canvas.h"

#include <QFont>
#include <QRect>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The bars that appear in addition to the sources.
struct ShareOptions {
  bool own = false;   ///< question, template, answer, and other text that is no source
  bool sink = false;  ///< first tokens of segments: heads attend to these tokens if no other key matches
  bool operator==(const ShareOptions&) const = default;
};

enum class ShareKind : std::uint8_t { Source, Context, Own, Sink };

struct ShareBar {
  ShareKind kind = ShareKind::Source;
  std::uint32_t part = 0;  ///< section of the prompt; undefined for a sink
  QString name;
  std::size_t hue = 0;  ///< for Theme::segmentInk
  document::NodeId id = document::kNoNode;
  double share = 0;    ///< share of the bar in the sum of all bars, 0 … 1; see ShareModel::ofSquares
  double mass = 0;     ///< fraction of all attention, 0 … 1
  bool isTop = false;  ///< the bar is highlighted: it is among the largest, and well above an even division
  bool selected = false;  ///< the section's node, block or token is selected
  bool operator==(const ShareBar&) const = default;
};

struct ShareModel {
  RequestId request = 0;  ///< 0: nothing is known
  RunId run = 0;
  std::size_t tokens = 0;        ///< number of answer tokens in the sums
  std::optional<QString> token;  ///< the selected token of the answer, if only that one is shown
  std::vector<ShareBar> bars;    ///< in prompt order.
  /// True: shares are computed from squared attention, in which strong attention counts most. False: shares
  /// are of plain attention.
  bool ofSquares = false;
  double sources = 0;  ///< fraction of all attention on sources, 0 … 1; without first tokens, if known
  double rest = 0;     ///< fraction on question, answer and other text
  std::optional<double> sink;  ///< fraction on first tokens; none: not recorded separately
  double beside = 0;           ///< fraction on answers that were generated at the same time
  bool operator==(const ShareModel&) const = default;

  bool isEmpty() const { return bars.empty(); }
};

/// The shares of the shown request, or of the selected token of its answer.
ShareModel shareModel(const ViewInput& input, const ShareOptions& options = {});

/// The highlighted bars, the largest first: "document 7 (41 %), document 3 (22 %)".
QString topText(const ShareModel& model);
/// "The answer attended to document 7 (41 %), …"
QString shareSentence(const ShareModel& model);
/// "Strong attention counts most (squares). Of all attention: sources 31 %, other text 22 %, first tokens …"
QString shareNote(const ShareModel& model);
/// "document 7: 41 % of the sources (strong attention counts most), 0.13 of all attention"
QString shareTip(const ShareModel& model, std::size_t bar);
/// Lines to append to the table of attentionCsv().
QString shareCsv(const ShareModel& model);

class ShareBars : public ItemCanvas {
  Q_OBJECT
 public:
  explicit ShareBars(QWidget* parent = nullptr);

  void setContent(const ShareModel& model, const Theme& theme);
  const ShareModel& model() const { return m_model; }
  /// Shows the bars on their way from `before`. `done` is the completed fraction, 0 … 1. Nothing: at rest.
  void showMotion(std::optional<ShareModel> before, double done);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, 0}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  /// Paints the bars at rest.
  void paint(QPainter& painter, const QRect& area);
  /// The rectangle of a bar and its label, in a widget of this size.
  QRect barRect(std::size_t bar, const QRect& area) const;
  /// The part of barRect() that is filled, as high as the share.
  QRect filledRect(std::size_t bar, const QRect& area) const;
  /// The labels under the bars at this width.
  std::vector<QString> labels(int width) const;

  /// The share of a bar as text, and the place of the text. The place overlaps no bar and no other value.
  struct Value {
    std::size_t bar = 0;
    QString text;
    QRect place;
  };
  std::vector<Value> values(const QRect& area) const;

 Q_SIGNALS:
  void chosen(std::size_t bar);

 protected:
  QRect itemRect(int item) const override;
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Labels {
    std::vector<QString> texts;
    bool upright = false;  ///< labels are upright, because they do not fit side by side
    int height = 0;
  };
  Labels labelsFor(int width) const;
  void keepApart(std::vector<QString>& texts, int width) const;
  void paintNow(QPainter& painter, const QRect& area) const;
  /// The share of a bar at this moment.
  double shareOf(std::size_t bar) const;
  /// Whether the note fits on the line of the sentence. If not, the note gets its own line.
  bool noteStandsBeside(int width) const;
  int headHeight(int width) const;  ///< height of sentence and note
  void paintBar(QPainter& painter, const QRect& area, const Labels& labels, std::size_t bar) const;
  QFont valueFont(const ShareBar& bar) const;

  ShareModel m_model;
  std::optional<ShareModel> m_before;
  double m_done = 1;
  Theme m_theme;
  int m_headWidth = 0;  ///< width of sentence and note side by side
};

}  // namespace spanscope::ui

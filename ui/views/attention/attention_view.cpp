// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_view.h"

#include "ui/views/attention/attention_controls.h"
#include "ui/views/attention/attention_layers.h"
#include "ui/views/attention/attention_marks.h"
#include "ui/views/attention/attention_plot.h"
#include "ui/views/attention/head_grid.h"
#include "ui/views/common/answer_tokens.h"
#include "ui/views/common/plot_painting.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/tokens/token_strip_area.h"
#include "ui/words/tr.h"

#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::ui {
namespace {

/// Approximate width of names and scale in the plot, in pixels.
constexpr int kNamesAndScale = 160;
constexpr QSize kLeastPlot(120, 100);

}  // namespace

AttentionView::AttentionView(QWidget* parent)
    : RunView(parent, InputPart::Replay),
      MovingView(this),
      m_bar(new ShareBar(this)),
      m_strip(new ReplayStrip(this)),
      m_answer(new AnswerTokens(this)),
      m_note(new QLabel(this)),
      m_area(new TokenStripArea(this)),
      m_plot(new AttentionPlot(this)),
      m_heads(new HeadGridArea(this)),
      m_legend(new AttentionLegend(this)),
      m_readout(new QLabel(this)),
      m_controls(new AttentionControls(*titleRow(), this)) {
  setAccessibleName(tr("Attention"));
  m_plot->setAccessibleName(tr("Attention heat map"));
  m_plot->setAccessibleDescription(
      tr("Arrow keys move between cells. Space selects the token or block. Return opens the column. Escape "
         "goes back."));
  m_readout->setAccessibleName(tr("Attention of the cell"));
  m_readout->setTextFormat(Qt::PlainText);
  m_readout->setMinimumWidth(0);
  m_readout->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  m_note->setAccessibleName(tr("Bars under the words"));
  m_note->setTextFormat(Qt::PlainText);
  m_note->setWordWrap(true);
  m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  m_plot->setMinimumSize(kLeastPlot);
  m_area->setMinimumSize(kLeastPlot);
  m_area->setAccessibleName(tr("Words of the documents, with the attention of the answer"));
  m_area->setTips([this](std::size_t token) { return sourceWordTip(m_words, token); });

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  layout->setSpacing(kSpace);
  layout->addWidget(m_bar);
  layout->addWidget(m_strip);
  layout->addWidget(m_answer);
  layout->addWidget(m_note);
  layout->addWidget(m_area, 1);
  layout->addWidget(m_plot, 1);
  layout->addWidget(m_heads, 1);
  layout->addWidget(m_legend);
  layout->addWidget(m_readout);
  // Hidden until a request has something to show.
  for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->hide();

  m_options.rowSet = AttentionRowSet::Answer;
  m_options.withFirst = false;
  connectControls();
  connectPlot();
}

void AttentionView::connectControls() {
  connect(m_controls, &AttentionControls::choiceMade, this, &AttentionView::choose);
  connect(m_controls, &AttentionControls::displayChosen, this, &AttentionView::setDisplay);
  connect(m_controls, &AttentionControls::sinkToggled, this, [this](bool shows) {
    for (AttentionOptions& before : m_back) before.withFirst = shows;
    AttentionOptions options = m_options;
    options.withFirst = shows;
    setOptions(options);
    setDisplay(AttentionDisplay::Map);
  });
  connect(m_controls, &AttentionControls::rowsChosen, this, [this](AttentionRowSet rows) {
    showRows(rows);
    setDisplay(AttentionDisplay::Map);
  });
  connect(m_controls, &AttentionControls::scaleChosen, this, [this](AttentionScale scale) {
    setScale(scale);
    setDisplay(AttentionDisplay::Map);
  });
  connect(m_strip, &ReplayStrip::computeWanted, this, [this] {
    Q_EMIT commandWanted(QStringLiteral("run.attention"));
    // The map may take a while, so the strip shows immediately that the button was pressed.
    showOffer();
  });
  connect(m_strip, &ReplayStrip::stopWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.stop")); });
}

void AttentionView::connectPlot() {
  connect(m_plot, &AttentionPlot::cellHovered, this, &AttentionView::showCell);
  connect(m_plot, &AttentionPlot::cellClicked, this, &AttentionView::selectCell);
  connect(m_plot, &AttentionPlot::cellOpened, this, &AttentionView::openCell);
  connect(m_plot, &AttentionPlot::partClicked, this,
          [this](int part) { selectPart(static_cast<std::size_t>(part)); });
  // A widget stays visible if it is hidden while Qt shows it, so this code waits until Qt has finished.
  connect(
      m_plot, &AttentionPlot::resized, this,
      [this] {
        if (input() != nullptr && isVisible() && fitted(m_options, m_plot->size()) != m_options) refresh();
      },
      Qt::QueuedConnection);
  connect(m_plot, &AttentionPlot::closed, this, &AttentionView::goBack);
  connect(m_bar, &ShareBar::chosen, this, [this](std::size_t piece) {
    const SharePiece& chosen = m_bar->model().pieces[piece];
    if (chosen.kind <= ShareKind::Context && input() != nullptr)
      Q_EMIT selectionWanted(selectionOfPart(*input(), m_model.request, chosen.part));
  });
  connect(m_answer, &AnswerTokens::tokenChosen, this, [this](std::size_t token) {
    if (input() != nullptr && token < m_words.answerPlaces.size())
      Q_EMIT selectionWanted(selectionOfToken(*input(), m_words.answerPlaces[token]));
  });
  connect(m_area, &TokenStripArea::chosen, this, [this](std::size_t token) {
    if (input() != nullptr && token < m_words.strip.tokens.size())
      Q_EMIT selectionWanted(selectionOfToken(*input(), m_words.strip.tokens[token].place));
  });
  connect(m_heads, &HeadGridArea::closed, this, [this] { setDisplay(AttentionDisplay::Map); });
  connect(m_heads, &HeadGridArea::chosen, this, [this](int layer, int head) {
    choose(layer, head);
    setDisplay(AttentionDisplay::Map);
  });
}

void AttentionView::choose(const std::optional<std::int32_t>& layer,
                           const std::optional<std::int32_t>& head) {
  for (AttentionOptions& before : m_back) {
    before.layer = layer;
    before.head = head;
  }
  AttentionOptions options = m_options;
  options.layer = layer;
  options.head = head;
  setOptions(options);
}

void AttentionView::showRows(AttentionRowSet rows) {
  AttentionOptions options = m_options;
  options.rowSet = rows;
  options.opened.clear();
  options.tokensOf.reset();
  m_back.clear();
  setOptions(options);
}

const ReplayOffer& AttentionView::replay() const {
  return m_strip->offer();
}

void AttentionView::setOptions(const AttentionOptions& options) {
  if (options == m_options) return;
  m_options = options;
  if (input() != nullptr) refresh();
}

void AttentionView::setDisplay(AttentionDisplay display) {
  if (display == m_display) return;
  m_display = display;
  m_controls->showDisplay(display);
  if (input() != nullptr) refresh();
  const std::array<QWidget*, 3> shown{m_area, m_plot, m_heads};
  shown[static_cast<std::size_t>(display)]->setFocus();
}

void AttentionView::setScale(AttentionScale scale) {
  if (scale == m_scale) return;
  m_scale = scale;
  if (input() != nullptr) refresh();
}

QString AttentionView::readout() const {
  return m_readout->text();
}

QString AttentionView::emptyText() const {
  if (isMapShown()) return {};
  if (m_model.leftOut) return leftOutText(*m_model.leftOut);
  const ViewInput& now = *input();
  if (m_model.request == 0)
    return now.document->settings.observe
               ? tr(/*id:attention-run-first*/ "Run a query to see what the answer attends to.")
               : tr(/*id:attention-switch-on*/
                    "Attention recording is off. Switch on recording in the "
                    "settings, then run a query.");
  const trace::RequestState& request = now.state().progress().requests.at(m_model.request);
  if (request.reported)
    return tr(/*id:attention-of-server*/
              "%1 does not report attention. Run the query on the embedded engine "
              "to see what the answer attends to.")
        .arg(QString::fromStdString(request.reported->server));
  if (m_model.rows.empty())
    return request.outcome
               ? tr(/*id:attention-no-answer*/
                    "This request ended without an answer, so there is no attention "
                    "to show.")
               : tr("The attention of the answer appears here after the first token of the answer.");
  const bool canRecompute = now.replay.origin == TraceOrigin::Session;
  if (wasRecordingOff())
    return canRecompute ? tr(/*id:attention-was-off*/
                             "Attention recording was off in this run. Choose a layer "
                             "to recompute, or switch on recording and run again.")
                        : tr("Attention recording was off in this run. Switch on "
                             "recording in the settings and run again.");
  if (m_options.layer || m_options.head) return tr("Nothing was recorded for this layer and head.");
  return canRecompute ? tr(/*id:attention-not-recorded*/
                           "This run has no records of the attention of this "
                           "answer. Choose a layer to recompute.")
                      : tr(/*id:attention-not-in-trace*/
                           "This trace has no records of the attention of this "
                           "answer.");
}

bool AttentionView::wasRecordingOff() const {
  const ViewInput& now = *input();
  if (now.records) {
    const auto own = std::find_if(now.records->begin(), now.records->end(),
                                  [this](const auto& record) { return record->run == m_model.run; });
    if (own != now.records->end() && (*own)->hasSettings) return !(*own)->settings.observe;
  }
  return now.replay.origin == TraceOrigin::Session && !now.document->settings.observe;
}

bool AttentionView::isMapShown() const {
  return m_model.recorded || !m_strip->offer().text.isEmpty();
}

void AttentionView::refresh() {
  stopMotion();
  refreshFor(m_plot->size());
  showMotion();
}

void AttentionView::stopMotion() {
  m_before.reset();
  m_bar->showMotion(std::nullopt, 1);
  m_plot->setGrowing(std::nullopt, 1);
}

void AttentionView::showMotion() {
  if (input() == nullptr || !moment().isUnderwayAt(input()->position)) return stopMotion();
  if (!m_before) {
    ViewInput earlier = *input();
    earlier.position = moment().first;
    const AttentionModel map = attentionModel(earlier, m_options);
    m_before = {.shares = shareModel(earlier), .rows = map.request == m_model.request ? map.rows.size() : 0};
  }
  m_bar->showMotion(m_before->shares, eased(moment().done));
  const bool grows = m_before->rows < m_model.rows.size();
  m_plot->setGrowing(grows ? std::optional(static_cast<int>(m_before->rows)) : std::nullopt, moment().done);
}

AttentionOptions AttentionView::fitted(AttentionOptions options, const QSize& plot) const {
  options.grain = grainFor(*input(), plot.width() - kNamesAndScale);
  options.answersPerRow = answersPerRowFor(*input(), m_plot->rowsHeight(plot));
  return options;
}

void AttentionView::refreshFor(const QSize& plot) {
  const ViewInput& now = *input();
  AttentionOptions options = fitted(m_options, plot);
  AttentionModel model = attentionModel(now, options);
  if (model.request != m_model.request) {
    // Another request may lack what was opened in the previous one.
    m_back.clear();
    options.opened.clear();
    options.tokensOf.reset();
  }
  const auto known = [](const std::vector<std::int32_t>& list, std::int32_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  if (options.layer && !model.layers.empty() && !known(model.layers, *options.layer)) options.layer.reset();
  if (options.head && model.heads > 0 && *options.head >= model.heads) options.head.reset();
  if (options != m_options) {
    m_options = options;
    model = attentionModel(now, m_options);
  }
  const AttentionMarks marks = attentionMarks(model, now.selection);
  const bool same = model == m_model && m_plot->theme() == now.theme && m_plot->marks() == marks &&
                    m_plot->scale() == m_scale;
  m_model = std::move(model);
  showAround();
  if (same) return;
  m_plot->setContent(m_model, now.theme, marks, m_scale);
  // Names of other columns may need another height, so the number of rows may change.
  const AttentionOptions refitted = fitted(m_options, plot);
  if (refitted != m_options) {
    m_options = refitted;
    m_model = attentionModel(now, m_options);
    m_plot->setContent(m_model, now.theme, attentionMarks(m_model, now.selection), m_scale);
  }
  showCell(-1, -1);
  Q_EMIT summaryChanged(m_options.tokensOf
                            ? tr("tokens of %1").arg(m_model.segments[*m_options.tokensOf].name)
                        : m_model.request == 0 ? QString()
                                               : requestName(now.state(), m_model.request));
  update();
}

bool AttentionView::canPerform(const QString& /*command*/) const {
  return isVisible() && replay().canCompute;
}

void AttentionView::perform(const QString& /*command*/) {
  if (replay().choice) Q_EMIT jobWanted(jobs::callOf<jobs::AttentionReplayJob>(*replay().choice));
}

void AttentionView::showOffer() {
  const ReplayOffer offer = replayOffer(*input(), m_model, m_options);
  const bool isOther = offer != m_strip->offer();
  m_strip->setContent(offer, input()->theme);
  if (isOther) Q_EMIT commandsChanged();
}

void AttentionView::showAround() {
  const ViewInput& now = *input();
  showOffer();
  const bool visible = isMapShown();
  m_bar->setContent(shareModel(now), now.theme);
  m_bar->setVisible(visible && !m_bar->model().isEmpty());
  const bool isMap = m_display == AttentionDisplay::Map;
  const bool isWords = m_display == AttentionDisplay::Words;
  if (isWords) showWords();
  m_answer->setVisible(visible && isWords);
  m_area->setVisible(visible && isWords);
  m_plot->setVisible(visible && isMap);
  m_legend->setVisible(visible && isMap);
  m_heads->setVisible(visible && m_display == AttentionDisplay::Heads);
  m_note->setVisible(visible && isWords);
  m_readout->setVisible(visible && isMap);
  if (m_display == AttentionDisplay::Heads) {
    std::optional<std::pair<std::int32_t, std::int32_t>> chosen;
    if (m_options.layer && m_options.head) chosen = {*m_options.layer, *m_options.head};
    m_heads->showGrid(headGrid(now), chosen, now.theme);
  }
  m_controls->showChoice(m_model, m_options.layer, m_options.head);
  m_legend->setContent(m_model, now.theme, m_scale);
  for (QLabel* label : {m_note, m_readout}) {
    colorLabel(*label, now.theme, Role::TextSecond);
    label->setFont(now.theme.smallFont());
  }
}

void AttentionView::showWords() {
  const ViewInput& now = *input();
  SourceWords words = sourceWords(now, m_bar->model(), m_options.layer, m_options.head);
  const bool isOther = words.strip != m_words.strip;
  const bool isElsewhere = words.strip.request != m_words.strip.request || words.first != m_revealed;
  m_words = std::move(words);
  const std::size_t current = selectedToken(m_words.strip, now.selection);
  m_answer->setContent(m_words.answer, now.theme);
  m_answer->setFixedHeight(answerHeight(size()));
  m_area->showStrip(&m_words.strip, isOther, current, now.theme);
  m_area->setAccessibleDescription(sourceWordTip(m_words, current));
  m_note->setText(sourceWordsNote(m_words, m_options.layer, m_options.head));
  if (!isElsewhere) return;
  m_revealed = m_words.first;
  m_area->revealGroup(m_words.first);
}

int AttentionView::answerHeight(const QSize& view) const {
  constexpr int kShare = 4;
  const int inner = std::max(1, view.width() - 4 * kSpace);
  return m_answer->fittingHeight(inner, view.height() / kShare);
}

void AttentionView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  if (m_display == AttentionDisplay::Words && input() != nullptr)
    m_answer->setFixedHeight(answerHeight(size()));
}

QString AttentionView::hint() const {
  if (!m_back.empty()) return tr("Escape goes one step back.");
  const auto opens = [this](const AttentionSegment& segment) {
    return segment.columns > 0 && finerGrain(m_model, segment.segment);
  };
  if (std::any_of(m_model.segments.begin(), m_model.segments.end(), opens))
    return tr("Double-click or press Return to open a column. Wheel: zoom. F: fit.");
  return tr("Wheel: zoom. F: fit.");
}

void AttentionView::showCell(int row, int column) {
  const QString text = attentionReadout(m_model, m_options, row, column);
  if (text.isEmpty()) {
    m_readout->setText(hint());
    m_plot->setToolTip({});
    QToolTip::hideText();
    return;
  }
  m_readout->setText(text);
  m_plot->setToolTip(text);
  m_plot->setAccessibleDescription(text);
}

void AttentionView::selectCell(int row, int column) {
  if (input() == nullptr || static_cast<std::size_t>(row) >= m_model.rows.size()) return;
  showCell(row, column);
  const AttentionRow& query = m_model.rows[static_cast<std::size_t>(row)];
  if (query.token >= 0) {
    Q_EMIT selectionWanted(selectionOfToken(*input(), m_model.placeOf(query)));
  } else {
    Q_EMIT selectionWanted(selectionOfBlock(
        *input(), {.request = m_model.request, .segment = query.segment, .virtualIndex = query.block}));
  }
}

void AttentionView::selectPart(std::size_t part) {
  if (input() == nullptr || part >= m_model.parts.size()) return;
  Q_EMIT selectionWanted(selectionOfBeginning(*input(), m_model.parts[part].place));
}

QString AttentionView::noKeysText() const {
  if (input()->replay.origin != TraceOrigin::Session || m_model.rowSet != AttentionRowSet::Answer)
    return tr("Single keys were not recorded. Record every token in Settings to zoom further.");
  return m_options.layer ? tr("Single keys were not recorded. Recompute single keys to zoom further.")
                         : tr("Single keys were not recorded. Choose a layer to recompute, or record every "
                              "token in Settings.");
}

void AttentionView::openCell(int row, int column) {
  if (m_options.tokensOf) {
    goBack();
    return;
  }
  const AttentionSegment* key = m_model.segmentOfColumn(column);
  if (key == nullptr || static_cast<std::size_t>(row) >= m_model.rows.size()) return;
  const std::uint32_t shown = key->segment;
  const std::uint32_t query = m_model.rows[static_cast<std::size_t>(row)].segment;
  AttentionOptions options = m_options;
  if (m_model.rowSet == AttentionRowSet::All && key->grain != AttentionGrain::Segments) {
    const auto& recorded = m_model.tokenSegments;
    if (std::find(recorded.begin(), recorded.end(), query) == recorded.end()) {
      m_readout->setText(tr("Record every token in Settings to zoom further."));
      return;
    }
    options.tokensOf = query;
    open(options);
    return;
  }
  const std::optional<AttentionGrain> finer = finerGrain(m_model, shown);
  if (!finer) {
    if (key->grain == AttentionGrain::Blocks || m_model.byPart) m_readout->setText(noKeysText());
    return;
  }
  options.opened[shown] = *finer;
  if (m_model.rowSet == AttentionRowSet::All) options.opened[query] = *finer;
  open(options);
  m_plot->showSegment(shown);
}

void AttentionView::open(const AttentionOptions& options) {
  m_back.push_back(m_options);
  setOptions(options);
  showCell(-1, -1);
}

void AttentionView::goBack() {
  if (m_back.empty()) {
    m_plot->fit();
    return;
  }
  const AttentionOptions before = m_back.back();
  m_back.pop_back();
  setOptions(before);
  showCell(-1, -1);
}

const QWidget& AttentionView::placesIn() const {
  return m_display == AttentionDisplay::Words ? *m_area->viewport() : static_cast<const QWidget&>(*m_plot);
}

std::vector<QRect> AttentionView::wordPlaces(const Selection& part) const {
  if (input() == nullptr || !isMapShown()) return {};
  std::vector<QRect> places;
  const StripLayout& shown = m_area->stripLayout();
  const TokenStrip& strip = m_words.strip;
  const std::size_t token = part.token || part.block ? selectedToken(strip, part) : strip.tokens.size();
  if (token < shown.tiles.size()) {
    places.push_back(shown.tiles[token]);
    for (std::size_t i = token + 1; !part.token && i < shown.tiles.size(); ++i) {
      if (strip.tokens[i].block == strip.tokens[token].block) places.push_back(shown.tiles[i]);
    }
  } else if (!part.token && !part.block) {
    for (const StripGroup& group : shown.groups) {
      const std::size_t segment = strip.tokens[group.first].segment;
      const bool isHere = std::any_of(part.nodes.begin(), part.nodes.end(), [&](document::NodeId node) {
        return node != document::kNoNode && node == strip.segments[segment].id;
      });
      if (isHere) places.push_back(shown.groupRect(group.first));
    }
  }
  for (QRect& place : places) place.translate(-m_area->offset());
  return places;
}

std::vector<QRectF> AttentionView::stretchesOf(const Selection& selection) const {
  std::vector<QRectF> stretches;
  Selection part = selection;
  // A lesson may name a token without its block.
  if (part.token && !part.block)
    part.block = BlockRef{part.token->request, part.token->segment,
                          part.token->local / std::max(1, m_model.blockSize)};
  if (input() == nullptr || !isMapShown() || m_model.rows.empty()) return stretches;
  const AttentionMarks marks = attentionMarks(m_model, part);
  const auto rows = static_cast<double>(m_model.rows.size());
  if (marks.row) stretches.emplace_back(0, *marks.row, m_model.columns, 1);
  if (marks.column) stretches.emplace_back(*marks.column, 0, 1, rows);
  if (!stretches.empty()) return stretches;
  const auto add = [&](const AttentionPart& one) {
    if (one.columns > 0) stretches.emplace_back(one.firstColumn, 0, one.columns, rows);
  };
  for (const std::size_t index : marks.parts) add(m_model.parts[index]);
  if (!stretches.empty() || !part.block || part.block->request != m_model.request) return stretches;
  // A selection without its own column has all columns of its segment or section.
  const bool isToken = part.token && part.token->request == m_model.request;
  const std::int32_t local = isToken ? part.token->local : part.block->virtualIndex * m_model.blockSize;
  for (const AttentionSegment& segment : m_model.segments) {
    bool isHere = segment.segment == part.block->segment;
    if (m_model.byPart) {
      const std::vector<trace::PartRange>& ranges = m_model.byPart->ranges[segment.segment];
      isHere = std::any_of(ranges.begin(), ranges.end(), [&](const trace::PartRange& range) {
        return range.segment == part.block->segment && range.begin <= local && local < range.end;
      });
    }
    if (isHere && segment.columns > 0) stretches.emplace_back(segment.firstColumn, 0, segment.columns, rows);
  }
  return stretches;
}

std::vector<QRect> AttentionView::placesOf(const Selection& part) const {
  if (m_display == AttentionDisplay::Words) return wordPlaces(part);
  std::vector<QRect> places;
  if (m_display == AttentionDisplay::Heads) return places;
  const QRect inner = m_plot->axisRect()->rect();
  for (const QRectF& cells : stretchesOf(part)) {
    const QRect place =
        m_plot->stretchRect(cells.top(), cells.height(), cells.left(), cells.width()).toAlignedRect();
    if (const QRect seen = place & inner; !seen.isEmpty()) {
      places.push_back(seen);
      continue;
    }
    // A place outside of the zoomed area moves beyond the edge, so that nobody mistakes a name for it.
    QRect beyond(place.topLeft(), QSize(1, 1));
    if (place.right() <= inner.left()) beyond.moveRight(-1);
    if (place.left() >= inner.right()) beyond.moveLeft(m_plot->width() + 1);
    if (place.bottom() <= inner.top()) beyond.moveBottom(-1);
    if (place.top() >= inner.bottom()) beyond.moveTop(m_plot->height() + 1);
    places.push_back(beyond);
  }
  return places;
}

void AttentionView::bringIntoSight(const Selection& part) {
  if (m_display == AttentionDisplay::Words) {
    const std::vector<QRect> places = wordPlaces(part);
    if (!places.empty()) m_area->makeVisible(places.front().translated(m_area->offset()));
    return;
  }
  const std::vector<QRectF> stretches = stretchesOf(part);
  if (stretches.empty()) return;
  setDisplay(AttentionDisplay::Map);
  m_plot->reveal(stretches.front());
}

QSize AttentionView::minimumSizeHint() const {
  QSize least = RunView::minimumSizeHint();
  // A layout's size hint ignores widgets whose height depends on their width.
  if (layout()->hasHeightForWidth())
    least.setHeight(
        std::max(least.height(), layout()->minimumHeightForWidth(std::max(width(), least.width()))));
  return least;
}

QString AttentionView::csv() const {
  if (input() == nullptr) return {};
  const AttentionModel model = attentionModel(*input(), m_options);
  if (!model.recorded) return {};
  QString text = attentionCsv(model);
  text.insert(text.indexOf(QLatin1Char('\n')) + 1, shareCsv(shareModel(*input())));
  return text;
}

void AttentionView::paintTo(QPainter& painter, const QSize& size) {
  stopMotion();
  const QRect area(QPoint(), size);
  const QRect inner = area.adjusted(2 * kSpace, 2 * kSpace, -2 * kSpace, -kSpace);
  if (input() != nullptr) refreshFor(inner.size());
  if (paintIfEmpty(painter, size)) return;
  painter.fillRect(area, theme().color(Role::Surface));
  const int bar = m_bar->heightForWidth(inner.width());
  if (bar > 0) m_bar->paint(painter, QRect(inner.left(), inner.top(), inner.width(), bar));
  QRect rest = inner.adjusted(0, bar > 0 ? bar + kSpace : 0, 0, 0);
  if (m_display == AttentionDisplay::Map)
    paintMap(painter, rest);
  else if (m_display == AttentionDisplay::Words)
    paintWords(painter, rest, answerHeight(size));
  else
    paintHeads(painter, rest);
  showMotion();
}

void AttentionView::paintHeads(QPainter& painter, const QRect& rest) {
  painter.save();
  painter.translate(rest.topLeft());
  m_heads->paintWhole(painter, rest.size());
  painter.restore();
}

void AttentionView::paintWords(QPainter& painter, QRect rest, int answer) {
  m_answer->paint(painter, QRect(rest.left(), rest.top(), rest.width(), answer));
  rest.setTop(rest.top() + answer + kSpace);
  paintTextAtTop(painter, rest, m_note->text(), theme(), Role::TextSecond);
  m_area->paintFrom(painter, rest, m_words.first);
}

void AttentionView::paintMap(QPainter& painter, const QRect& rest) {
  const int legend = m_legend->heightForWidth(rest.width());
  // The room for the map is known only now.
  if (input() != nullptr) refreshFor({rest.width(), rest.height() - legend});
  const QCPRange columns = m_plot->xAxis->range();
  const QCPRange rows = m_plot->yAxis->range();
  m_plot->fit();
  const QRect plot = rest.adjusted(0, 0, 0, -legend);
  m_plot->layOut(plot.size());
  paintPlot(*m_plot, painter, plot);
  m_plot->layOut(m_plot->size());
  m_plot->xAxis->setRange(columns);
  m_plot->yAxis->setRange(rows);
  m_legend->paint(painter, QRect(rest.left(), rest.bottom() + 1 - legend, rest.width(), legend));
}

ViewInfo attentionRow() {
  return {.id = QStringLiteral("attention"),
          .title = tr("Attention"),
          .help = tr("What each block of the prompt attends to, and what the tree masks"),
          .make = makeViewOf<AttentionView>,
          .needs = {Fact::Attention},
          .places = {{LayoutId::Explain, Room::Low, Room::Middle, 1, 1, 1, 0, true},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 2, 0, 43, true}},
          .commands = {QStringLiteral("run.attention")},
          .explainsBlocks = true};
}

}  // namespace spanscope::ui

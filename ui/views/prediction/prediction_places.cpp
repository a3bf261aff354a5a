// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/prediction_places.h"

#include "ui/views/common/segment_names.h"
#include "ui/views/prediction/prediction_model.h"
#include "ui/words/tr.h"

#include <QAction>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace spanscope::ui {

namespace {

using simulator::Fate;
using workbench::ServerPrompt;
using workbench::SimulatorPrediction;

bool isFound(Fate fate) {
  return fate == Fate::Found || fate == Fate::Moved;
}

/// The number of tokens in [begin, end) whose simulator::Fate `counts` accepts.
template <class Counts>
std::int64_t tokensIn(const simulator::Answer& answer, std::int64_t begin, std::int64_t end, Counts counts) {
  std::int64_t tokens = 0;
  for (const simulator::FateRun& run : answer.fates) {
    if (!counts(run.fate)) continue;
    tokens += std::max<std::int64_t>(
        0, std::min<std::int64_t>(end, run.begin + run.count) - std::max<std::int64_t>(begin, run.begin));
  }
  return tokens;
}

run::CountRange exactly(std::int64_t count) {
  return {.least = count, .most = count};
}

PredictionCounts countsOf(const ServerPrompt& prompt, const simulator::Answer& answer,
                          const workbench::FoundRange& range) {
  const auto all = static_cast<std::int64_t>(prompt.tokens().size());
  const std::int64_t moved = tokensIn(answer, 0, all, [](Fate fate) { return fate == Fate::Moved; });
  PredictionCounts counts;
  counts.prompt = exactly(all);
  counts.cached = {.least = range.least, .most = range.most};
  // A server without relocation here has no relocation in other cases.
  counts.relocated =
      range.isExact() || moved == 0 ? exactly(moved) : run::CountRange{.least = 0, .most = range.most};
  counts.computed = {.least = all - range.most, .most = all - range.least};
  if (!prompt.holdsAnswer) return counts;
  const auto known = static_cast<std::int64_t>(std::count_if(prompt.tokens().begin(), prompt.tokens().end(),
                                                             [](TokenId token) { return token >= 0; }));
  counts.prompt.least = known;
  // Answers of an earlier step may be cache hits too.
  counts.cached.most = run::CountRange::kUnbounded;
  counts.computed.least = 1;
  return counts;
}

/// A block of the prompt. In servers, the hit is a prefix of the block, or there is no hit.
BlockLook lookOf(const simulator::Answer& answer, std::int64_t begin, std::int64_t end,
                 std::int32_t blockSize) {
  const auto wanted = static_cast<double>(end - begin);
  const std::int64_t found = tokensIn(answer, begin, end, isFound);
  const bool isMoved = tokensIn(answer, begin, end, [](Fate fate) { return fate == Fate::Moved; }) > 0;
  const BlockRole foundRole = isMoved ? BlockRole::Relocated : BlockRole::Hit;
  BlockLook look;
  look.role = found == end - begin ? foundRole : BlockRole::Computed;
  look.share = wanted / blockSize;
  if (found > 0 && found < end - begin) {
    look.split = static_cast<double>(found) / wanted;
    look.found = foundRole;
  }
  return look;
}

/// "218 cached: whole blocks whose hashes are known"
QString fateWords(const SimulatorPrediction& simulator, Fate fate, std::int64_t tokens) {
  const QString why = QString::fromUtf8(simulator::whyAt(*simulator.kind, fate));
  const char* const metric = isFound(fate) ? "cached-tokens" : "computed-tokens";
  return tr("%1: %2").arg(metricPhrase(metric, static_cast<double>(tokens)), why);
}

QString fateWordsIn(const SimulatorPrediction& simulator, const simulator::Answer& answer, std::int64_t begin,
                    std::int64_t end) {
  QStringList words;
  for (const simulator::FateRun& run : answer.fates) {
    const std::int64_t tokens =
        tokensIn(simulator::Answer{.fates = {run}}, begin, end, [](Fate) { return true; });
    if (tokens > 0) words << fateWords(simulator, run.fate, tokens);
  }
  return words.join(tr("; "));
}

/// The reasons in prompt order: a sentence for each range of tokens.
QStringList reasonsOf(const SimulatorPrediction& simulator, const simulator::Answer& answer) {
  QStringList reasons;
  if (!answer.place.empty())
    reasons << tr("The request goes to %1.").arg(QString::fromStdString(answer.place));
  const auto end = [](const simulator::FateRun& run) { return run.begin + run.count; };
  for (const simulator::FateRun& run : answer.fates) {
    const QString why = QString::fromUtf8(simulator::whyAt(*simulator.kind, run.fate));
    const QString what = isFound(run.fate) ? tr("cached") : tr("computed");
    if (run.begin == 0 && run == answer.fates.back())
      reasons << tr("All %1 tokens %2: %3.").arg(run.count).arg(what, why);
    else if (run.count == 1)
      reasons << tr("Token %1 %2: %3.").arg(run.begin).arg(what, why);
    else
      reasons << tr("Tokens %1 to %2, %3: %4.").arg(run.begin).arg(end(run) - 1).arg(what, why);
  }
  return reasons;
}

/// The reason for the longest range of computed tokens.
QString shortReason(const SimulatorPrediction& simulator, const std::vector<simulator::Answer>& answers) {
  const simulator::FateRun* longest = nullptr;
  for (const simulator::Answer& answer : answers) {
    for (const simulator::FateRun& run : answer.fates)
      if (!isFound(run.fate) && (longest == nullptr || run.count > longest->count)) longest = &run;
  }
  if (longest == nullptr) return {};
  const QString why = QString::fromUtf8(simulator::whyAt(*simulator.kind, longest->fate));
  return longest->begin == 0 ? why : tr("from token %1 on: %2").arg(longest->begin).arg(why);
}

std::vector<PredictionSegment> partsOf(const ViewInput& input, const DocumentPrediction& prediction,
                                       const SimulatorPrediction& simulator, const ServerPrompt& prompt,
                                       const simulator::Answer& answer) {
  const RequestParts parts = requestParts(input, prediction, prompt.table);
  std::vector<PredictionSegment> rows;
  std::vector<std::int64_t> lastBlock;
  const auto all = static_cast<std::int64_t>(prompt.tokens().size());
  bool isAfterAnswer = false;
  std::optional<std::uint32_t> last;
  for (const trace::PartRange& range : parts.parts.visible()) {
    const bool goesOn = std::exchange(last, range.part) == range.part;
    if (!goesOn) {
      PredictionSegment& row = rows.emplace_back();
      lastBlock.push_back(-1);
      row.name = parts.names[range.part].name;
      row.hue = parts.names[range.part].hue;
      if (input.document->contains(parts.names[range.part].id)) row.node = parts.names[range.part].id;
      row.kind = tr("dependent");
      row.base = range.begin;
      row.isAfterAnswer = isAfterAnswer;
      row.sees = tr("all earlier text");
    }
    PredictionSegment& row = rows.back();
    const std::int64_t count = range.end - range.begin;
    const std::int64_t found = tokensIn(answer, range.begin, range.end, isFound);
    const std::int64_t moved =
        tokensIn(answer, range.begin, range.end, [](Fate fate) { return fate == Fate::Moved; });
    row.account.hit += found - moved;
    row.account.relocated += moved;
    row.account.computed += count - found;
    row.holdsAnswer = row.holdsAnswer ||
                      std::any_of(prompt.tokens().begin() + range.begin, prompt.tokens().begin() + range.end,
                                  [](TokenId token) { return token < 0; });
    row.cached += exactly(found);
    row.relocated += exactly(moved);
    for (std::int64_t block = range.begin / simulator.blockSize; block * simulator.blockSize < range.end;
         ++block) {
      if (std::exchange(lastBlock.back(), block) == block) continue;
      const std::int64_t begin = block * simulator.blockSize;
      row.blocks.push_back(
          lookOf(answer, begin, std::min(all, begin + simulator.blockSize), simulator.blockSize));
    }
    const QString words = fateWordsIn(simulator, answer, range.begin, range.end);
    row.blockWords += row.blockWords.isEmpty() ? words : tr("; ") + words;
    isAfterAnswer = isAfterAnswer || row.holdsAnswer;
  }
  return rows;
}

const std::vector<simulator::Answer>& answersOf(const SimulatorPrediction& simulator, Against against) {
  return against == Against::Present ? simulator.present : simulator.empty;
}

const workbench::FoundRanges& rangesOf(const SimulatorPrediction& simulator, Against against) {
  return against == Against::Present ? simulator.presentRange : simulator.emptyRange;
}

QString nameOf(const SimulatorPrediction& simulator) {
  if (!simulator.server.empty()) {
    const QString own = QString::fromStdString(simulator.server);
    return simulator.kind == nullptr ? own : tr("%1, %2").arg(own, QString::fromUtf8(simulator.kind->title));
  }
  const QString title = QString::fromUtf8(simulator.kind->title);
  // There are two simulators of this kind.
  if (simulator.kind->name == std::string_view("llama.cpp"))
    return tr("%1, %2").arg(title, QString::fromStdString(simulator.setup));
  return title;
}

QString historyText(const SimulatorPrediction& simulator, Against against) {
  if (against == Against::Empty) return tr("with an empty cache");
  if (!simulator.server.empty()) {
    return simulator.earlier == 0   ? tr("no request from this window yet")
           : simulator.earlier == 1 ? tr(/*id:after-one-request-sent*/ "after 1 request from this window")
                                    : tr("after %1 requests from this window").arg(simulator.earlier);
  }
  return simulator.earlier == 0   ? tr("no run in this window yet")
         : simulator.earlier == 1 ? tr(/*id:after-one-request*/ "after 1 request in this window")
                                  : tr("after %1 requests in this window").arg(simulator.earlier);
}

/// "as written 0 cached, best order 96, as spans 112; order note: 31 tokens". With a known speed and price,
/// each number also has its time and its price.
QString ordersText(const ViewInput& input, const SimulatorPrediction& simulator) {
  const workbench::OrderReuse& orders = simulator.orders;
  if (!orders.hasChoice) return {};
  const KnownServer* known = nullptr;
  if (input.knownServers != nullptr) {
    const auto found = input.knownServers->find(simulator.server);
    if (found != input.knownServers->end()) known = &found->second;
  }
  const auto part = [&](std::int64_t cached, std::int64_t prompt) {
    const std::int64_t computed = prompt - cached;
    QStringList words{QString::number(cached)};
    if (known != nullptr && known->speed && known->speed->promptTokens > 0) {
      const double seconds = static_cast<double>(computed) * known->speed->promptSeconds /
                             static_cast<double>(known->speed->promptTokens);
      words << tr("%1 s").arg(seconds, 0, 'f', 2);
    }
    if (known != nullptr && known->price) {
      words << tr("price %1")
                   .arg(QString::fromStdString(
                       workbench::priceText(known->price->ofPrompt(computed, cached))));
    }
    return words.size() == 1 ? words.front()
                             : tr("%1 (%2)").arg(words.front(), words.mid(1).join(QStringLiteral(", ")));
  };
  const QString written = metricPhrase("cached-tokens", static_cast<double>(orders.asWritten));
  const QString text = tr("as written %1, best order %2, as spans %3")
                           .arg(part(orders.asWritten, orders.prompt)
                                    .replace(0, QString::number(orders.asWritten).size(), written),
                                part(orders.best, orders.bestPrompt()), part(orders.asSpans, orders.prompt));
  if (orders.noteTokens == 0) return text;
  return tr("%1; order note: %2 tokens").arg(text).arg(orders.noteTokens);
}

PredictionPlace placeOf(const SimulatorPrediction& simulator, const std::vector<ServerPrompt>& prompts,
                        Against against, const QString& own) {
  PredictionPlace place;
  place.id = QString::fromStdString(simulator.id);
  place.name = nameOf(simulator);
  place.isOwn = own == place.id;
  place.problem = QString::fromStdString(simulator.problem);
  if (!place.problem.isEmpty()) return place;
  const std::vector<simulator::Answer>& answers = answersOf(simulator, against);
  for (std::size_t i = 0; i < answers.size(); ++i)
    place.counts += countsOf(prompts[i], answers[i], rangesOf(simulator, against).prompts[i]);
  // Bounds of the sum are narrower than the sum of bounds.
  const bool isBounded = place.counts.cached.bounded();
  const workbench::FoundRange& all = rangesOf(simulator, against).all;
  place.counts.cached.least = all.least;
  if (isBounded) {
    place.counts.cached.most = all.most;
    place.counts.relocated.most = std::min(place.counts.relocated.most, all.most);
    place.counts.computed = {.least = place.counts.prompt.most - all.most,
                             .most = place.counts.prompt.most - all.least};
  }
  place.why = shortReason(simulator, answers);
  place.setup =
      tr("%1, %2").arg(QString::fromStdString(workbench::simulatorTitle(*simulator.kind, simulator.version)),
                       QString::fromStdString(simulator.setup));
  if (!simulator.server.empty())
    place.setup += simulator.isAsSaid ? tr(" as the server reports") : tr(" with default options");
  place.history = historyText(simulator, against);
  return place;
}

}  // namespace

QString placeHere() {
  return QStringLiteral("here");
}

QString ownPlace(const document::Document& document) {
  return document.settings.runsOnServer()
             ? QStringLiteral("server ") + QString::fromStdString(document.settings.server)
             : placeHere();
}

std::vector<PredictionPlace> predictionPlaces(const ViewInput& input, Against against,
                                              const AskedSimulators* simulators) {
  const DocumentPrediction& prediction = *input.prediction.newest;
  const QString own = ownPlace(*input.document);
  std::vector<PredictionPlace> places;
  PredictionPlace& here = places.emplace_back();
  here.id = placeHere();
  here.name = tr("With %1 here").arg(QString::fromStdString(prediction.policy));
  here.isOwn = own == here.id;
  if (!prediction.isKnown()) here.problem = QString::fromStdString(prediction.problem);
  if (simulators != nullptr) {
    for (const SimulatorPrediction& simulator : simulators->simulators.simulators) {
      places.push_back(placeOf(simulator, promptsOf(*simulators, simulator), against, own));
      if (places.back().problem.isEmpty() && against == Against::Present)
        places.back().orders = ordersText(input, simulator);
    }
  }
  // The document names a server that is in no list, or that has not answered yet.
  const bool isThere =
      std::any_of(places.begin(), places.end(), [](const PredictionPlace& place) { return place.isOwn; });
  if (isThere) return places;
  PredictionPlace& gone = places.emplace_back();
  gone.id = own;
  gone.name = QString::fromStdString(input.document->settings.server);
  gone.isOwn = true;
  const bool isListed = std::find(input.servers.begin(), input.servers.end(),
                                  input.document->settings.server) != input.servers.end();
  gone.problem =
      isListed ? tr("waiting for the server's response") : tr("no server in the list has this name");
  return places;
}

std::vector<PredictionStep> simulatorSteps(const ViewInput& input, const AskedSimulators& asked,
                                           const SimulatorPrediction& simulator, Against against) {
  const DocumentPrediction& prediction = *asked.prediction;
  const std::vector<simulator::Answer>& answers = answersOf(simulator, against);
  std::vector<NamedStep> named;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const NodePath& node = promptsOf(asked, simulator)[i].name.first;
    named.push_back(
        {.step = static_cast<StepIndex>(i), .node = prediction.paths.nodeOf(node), .isRoot = node.empty()});
  }
  const std::map<StepIndex, QString> names = stepNames(*input.document, named);
  std::vector<PredictionStep> steps;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ServerPrompt& prompt = promptsOf(asked, simulator)[i];
    PredictionStep step;
    step.step = static_cast<StepIndex>(i);
    step.name = names.at(step.step);
    if (input.document->contains(named[i].node)) step.node = named[i].node;
    const workbench::FoundRange& range = rangesOf(simulator, against).prompts[i];
    step.counts = countsOf(prompt, answers[i], range);
    if (!range.isExact()) {
      step.sentences << tr(
          "Not exact: the hits depend on the lengths of answers, or on the order of simultaneous requests. "
          "The table is right if answers have the expected lengths and requests arrive in order.");
    }
    if (prompt.holdsAnswer)
      step.sentences << tr("Bounds only: the prompt contains an answer that is not sampled yet.");
    step.sentences << reasonsOf(simulator, answers[i]);
    step.segments = partsOf(input, prediction, simulator, prompt, answers[i]);
    steps.push_back(std::move(step));
  }
  return steps;
}

namespace {

constexpr int kPlaceRow = 22;
constexpr int kPlaceBar = 6;
constexpr int kBarRoom = 96;
constexpr int kMostPlaceRows = 7;

}  // namespace

/// Paints a bar of cache hits before the reason.
class PlaceDelegate : public QStyledItemDelegate {
 public:
  explicit PlaceDelegate(PlaceList& list) : QStyledItemDelegate(&list), m_list(list) {}

  void setTheme(const Theme& theme) { m_blocks.setTheme(theme); }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const PredictionPlace& place = m_list.places()[static_cast<std::size_t>(m_list.rowOf(index))];
    QStyleOptionViewItem rest = option;
    initStyleOption(&rest, index);
    rest.text.clear();
    option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &rest, painter, option.widget);
    painter->save();
    QRect area = option.rect.adjusted(2 * kSpace, 0, -2 * kSpace, 0);
    if (place.problem.isEmpty()) {
      const QRectF bar(area.left(), area.center().y() - kPlaceBar / 2.0, std::min(kBarRoom, area.width()),
                       kPlaceBar);
      paintPredictionBar(*painter, bar, place.counts, m_blocks);
      area.setLeft(area.left() + kBarRoom + 2 * kSpace);
    }
    painter->setFont(m_blocks.theme().smallFont());
    painter->setPen(m_blocks.theme().color(Role::TextSecond));
    if (area.width() > 8 * kSpace) {
      painter->drawText(
          area, Qt::AlignLeft | Qt::AlignVCenter,
          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, area.width()));
    }
    painter->restore();
  }

 private:
  PlaceList& m_list;
  BlockPainter m_blocks;
};

namespace {

enum PlaceColumn { kPlaceName, kPlaceFound, kPlaceWhy };

PaintedTable placesTable(const std::vector<PredictionPlace>& places) {
  PaintedTable table{
      .headers = {PlaceList::tr("Where"), PlaceList::tr("Cached"), PlaceList::tr("Reason for misses")},
      .shares = {},
      .rows = {},
      .headerHelps = {
          PlaceList::tr("The embedded cache, servers with default options, and servers of the list. Bold: "
                        "where the query runs"),
          PlaceList::tr("Cached prompt tokens of the next run"),
          PlaceList::tr("Cached, relocated and computed tokens, and the main reason for computed tokens")}};
  for (const PredictionPlace& place : places) {
    const bool isKnown = place.problem.isEmpty();
    const Role ink = isKnown ? Role::Text : Role::TextSecond;
    const QString tip = placeTip(place);
    table.rows.push_back(
        {{.text = place.name, .bold = place.isOwn, .help = tip},
         {.text = isKnown ? foundText(place) : PlaceList::tr("not known"),
          .ink = ink,
          .mono = true,
          .isRight = true,
          .help = tip,
          .raw = isKnown ? QVariant(static_cast<qlonglong>(place.counts.cached.least)) : QVariant()},
         {.text = isKnown ? place.why : place.problem, .ink = ink, .help = tip}});
  }
  return table;
}

}  // namespace

PlaceList::PlaceList(QWidget* parent)
    : TableView(tr("Caches to predict"), RowOrder::Sortable, parent),
      m_model(new PaintedTableModel(this)),
      m_delegate(new PlaceDelegate(*this)),
      m_report(new QAction(tr("Show blocks as a run"), this)) {
  m_model->setTable(placesTable({}));
  setModel(m_model);
  setItemDelegateForColumn(kPlaceWhy, m_delegate);
  setRowHeight(kPlaceRow);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  horizontalHeader()->setSectionResizeMode(kPlaceName, QHeaderView::ResizeToContents);
  horizontalHeader()->setSectionResizeMode(kPlaceFound, QHeaderView::ResizeToContents);
  insertAction(actions().value(0), m_report);
  const auto selected = [this]() -> const PredictionPlace& {
    return m_list[static_cast<std::size_t>(selectedRow())];
  };
  connect(this, &TableView::rowSelected, this, [this, selected] {
    m_report->setEnabled(canTrace(selected()));
    Q_EMIT placeChosen(selected().id);
  });
  connect(m_report, &QAction::triggered, this, [this, selected] { Q_EMIT blocksWanted(selected().id); });
}

void PlaceList::showPlaces(const PredictionTable& table, const Theme& theme) {
  setTheme(theme);
  m_delegate->setTheme(theme);
  m_list = table.places;
  m_model->setTable(placesTable(m_list));
  showRow(table.places.empty() ? -1 : static_cast<int>(table.shown));
  m_report->setEnabled(!table.places.empty() && canTrace(table.places[table.shown]));
  updateGeometry();
}

void PlaceList::setNarrow(bool narrow) {
  setColumnHidden(kPlaceWhy, narrow);
  horizontalHeader()->setSectionResizeMode(kPlaceName,
                                           narrow ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
}

QSize PlaceList::sizeHint() const {
  const int rows = std::min(m_model->rowCount(), kMostPlaceRows);
  return {400, horizontalHeader()->sizeHint().height() + rows * kPlaceRow + kSpace};
}

QSize PlaceList::minimumSizeHint() const {
  return {0, horizontalHeader()->sizeHint().height() + 2 * kPlaceRow};
}

bool canTrace(const PredictionPlace& place) {
  return place.problem.isEmpty() && !place.setup.isEmpty();
}

QString foundText(const PredictionPlace& place) {
  return PlaceList::tr("%1 of %2")
      .arg(predictedText("cached-tokens", place.counts), predictedText("prompt-tokens", place.counts));
}

QString placeTip(const PredictionPlace& place) {
  QStringList lines;
  if (!place.problem.isEmpty()) {
    lines << PlaceList::tr("%1: %2.").arg(place.name, place.problem);
  } else {
    lines << PlaceList::tr("%1: %2, %3.")
                 .arg(place.name,
                      metricPart("cached-tokens", predictedText("cached-tokens", place.counts),
                                 "prompt-tokens", predictedText("prompt-tokens", place.counts)),
                      metricPhrase("computed-tokens", predictedText("computed-tokens", place.counts)));
  }
  if (!place.why.isEmpty()) lines << PlaceList::tr("Main reason: %1.").arg(place.why);
  if (!place.setup.isEmpty()) lines << PlaceList::tr("%1, %2.").arg(place.setup, place.history);
  if (!place.orders.isEmpty()) lines << PlaceList::tr("%1.").arg(place.orders);
  if (place.isOwn) lines << PlaceList::tr("The query runs at this place.");
  return lines.join(QLatin1Char('\n'));
}

}  // namespace spanscope::ui

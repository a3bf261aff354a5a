// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/next_token_model.h"

#include "ui/session/job_results.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

const trace::RequestState* answeredRequest(const ViewInput& input, RequestId id) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(id);
  return found == requests.end() || found->second.segments.empty() ? nullptr : &found->second;
}

QString textOf(const jobs::NextToken& token, TokenId id) {
  const jobs::Alternative* found = token.find(id);
  return found == nullptr ? QString::number(id) : shownToken(found->text);
}

}  // namespace

double divergenceLength(double nats) {
  if (nats <= kLeastNats) return 0;
  return std::min(1.0, 1 - std::log10(nats) / std::log10(kLeastNats));
}

QString natsText(double nats) {
  return tr("%1 nats").arg(QString::fromStdString(metrics::text(metrics::Unit::Nats, nats)));
}

NextTokenModel nextTokenModel(const ViewInput& input, RequestId other) {
  NextTokenModel model;
  const RequestId id = input.shownRequest();
  const trace::RequestState* request = answeredRequest(input, id);
  if (request == nullptr) return model;
  model.choice.request = id;
  model.others = otherPolicies(input, id);
  if (std::find(model.others.begin(), model.others.end(), other) != model.others.end())
    model.choice.other = other;
  for (const RequestId each : model.others) {
    const trace::RequestState* same = answeredRequest(input, each);
    model.otherNames.push_back(tr("run %1 · %2").arg(same->run).arg(policyOf(input, each)));
  }
  model.ownName = tr("this run · %1").arg(policyOf(input, id));
  model.otherName = tr("full prefill");
  for (std::size_t i = 0; i < model.others.size(); ++i) {
    if (model.others[i] == model.choice.other) model.otherName = model.otherNames[i];
  }
  for (const GeneratedToken& token : generatedTokens(*input.trace, id, input.position))
    model.texts.push_back(shownToken(token.token->shown));
  model.answerTokens = model.texts.size();
  const jobs::JobCall call = jobs::callOf<jobs::NextTokenJob>(model.choice);
  model.reason = jobReason(input, call);
  model.isRunning = isRunning(input, call);
  model.problem = jobProblem(input, call);
  // At an earlier position, the answer has fewer tokens than the result.
  const auto tokens = jobResult<jobs::NextTokenJob>(input, model.choice);
  if (tokens && tokens->size() >= model.texts.size() && !model.texts.empty()) model.tokens = tokens;
  const std::optional<TokenRef>& token = input.selection.token;
  if (token && token->request == id && token->segment + 1 == request->segments.size()) {
    const auto prompt = static_cast<std::int32_t>(request->segments.back().tokens.size());
    if (token->local >= prompt) {
      model.place = std::min(static_cast<std::size_t>(token->local - prompt),
                             model.texts.empty() ? 0 : model.texts.size() - 1);
      return model;
    }
  }
  if (model.isComputed()) model.place = model.openingPlace();
  return model;
}

TokenRef placeOfAnswer(const ViewInput& input, const NextTokenModel& model, std::size_t place) {
  const trace::RequestState& request = *answeredRequest(input, model.choice.request);
  const auto prompt = static_cast<std::int32_t>(request.segments.back().tokens.size());
  return {.request = model.choice.request,
          .segment = static_cast<std::uint32_t>(request.segments.size() - 1),
          .local = prompt + static_cast<std::int32_t>(place)};
}

std::size_t NextTokenModel::openingPlace() const {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < answerTokens; ++i) {
    if (differsAt(i)) return i;
    if ((*tokens)[i].divergence > (*tokens)[largest].divergence) largest = i;
  }
  return largest;
}

QString nextTokenHeadline(const NextTokenModel& model) {
  if (!model.isComputed()) return {};
  std::size_t differing = 0;
  std::size_t same = 0;
  double sum = 0;
  for (std::size_t i = 0; i < model.answerTokens; ++i) {
    differing += model.differsAt(i) ? 1 : 0;
    same += model.isSameAt(i) ? 1 : 0;
    sum += (*model.tokens)[i].divergence;
  }
  if (same == model.answerTokens)
    return tr(/*id:next-token-no-difference*/ "No difference between %1 and %2 at any token of the answer.")
        .arg(model.ownName, model.otherName);
  const QString best =
      differing == 0
          ? tr(/*id:next-token-same-best*/ "The most likely token is the same at each of %1 tokens.")
                .arg(model.answerTokens)
          : tr(/*id:next-token-differs*/
               "The most likely token differs at %1 of %2 tokens, first at token %3.")
                .arg(differing)
                .arg(model.answerTokens)
                .arg(model.openingPlace() + 1);
  return best + QLatin1Char(' ') +
         tr("%1: mean %2.")
             .arg(metricTitle("divergence"), natsText(sum / static_cast<double>(model.answerTokens)));
}

QString nextTokenSentence(const NextTokenModel& model, std::size_t place) {
  const jobs::NextToken& token = (*model.tokens)[place];
  const QString name = tr("Token %1, “%2”").arg(place + 1).arg(model.texts[place]);
  if (model.isSameAt(place)) return tr(/*id:next-token-same-here*/ "%1: no difference").arg(name);
  const QString best = textOf(token, token.ownBest);
  const QString most =
      model.differsAt(place)
          ? tr(/*id:next-token-two-bests*/ "%1: most likely is “%2” in %3, and “%4” in %5.")
                .arg(name, best, model.ownName, textOf(token, token.otherBest), model.otherName)
          : tr(/*id:next-token-one-best*/ "%1: most likely is “%2” on both sides.").arg(name, best);
  return most + QLatin1Char(' ') + tr("%1: %2.").arg(metricTitle("divergence"), natsText(token.divergence));
}

AnswerTiles nextTokenTiles(const NextTokenModel& model) {
  AnswerTiles result{.tiles = {}, .chosen = {}, .top = tr("1 nat"), .bottom = QString::number(kLeastNats)};
  if (!model.isComputed()) return result;
  for (std::size_t i = 0; i < model.answerTokens; ++i)
    result.tiles.push_back({.text = model.texts[i],
                            .description = nextTokenSentence(model, i),
                            .value = divergenceLength((*model.tokens)[i].divergence),
                            .isMarked = model.differsAt(i),
                            .isQuiet = model.isSameAt(i)});
  result.chosen = model.place;
  return result;
}

QString alternativeText(const NextTokenModel& model, const jobs::Alternative& alternative) {
  return tr(/*id:next-token-alternative*/ "“%1”: %2 in %3, %4 in %5")
      .arg(shownToken(alternative.text), partText(alternative.own), model.ownName,
           partText(alternative.other), model.otherName);
}

QString nextTokenCsv(const NextTokenModel& model) {
  if (!model.isComputed()) return {};
  QString csv = csvLine(
      {QStringLiteral("place"), QStringLiteral("drawn"), QStringLiteral("token"), QStringLiteral("text"),
       QStringLiteral("probability"), QStringLiteral("compared with"), QStringLiteral("probability there"),
       QStringLiteral("likeliest"), QStringLiteral("likeliest there"), QStringLiteral("divergence nats")});
  const auto yes = [](bool is) { return is ? QStringLiteral("1") : QStringLiteral("0"); };
  for (std::size_t i = 0; i < model.answerTokens; ++i) {
    const jobs::NextToken& token = (*model.tokens)[i];
    for (const jobs::Alternative& each : token.alternatives)
      csv += csvLine({QString::number(i), yes(each.token == token.drawn), QString::number(each.token),
                      shownToken(each.text), csvNumber(each.own), model.otherName, csvNumber(each.other),
                      yes(each.token == token.ownBest), yes(each.token == token.otherBest),
                      csvNumber(token.divergence)});
  }
  return csv;
}

}  // namespace spanscope::ui

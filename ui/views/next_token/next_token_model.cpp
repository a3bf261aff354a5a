// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/next_token_model.h"

#include "ui/session/job_results.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>

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
    model.place = static_cast<std::size_t>(std::max(0, token->local - prompt));
  }
  model.place = std::min(model.place, model.texts.empty() ? 0 : model.texts.size() - 1);
  return model;
}

TokenRef placeOfAnswer(const ViewInput& input, const NextTokenModel& model, std::size_t place) {
  const trace::RequestState& request = *answeredRequest(input, model.choice.request);
  const auto prompt = static_cast<std::int32_t>(request.segments.back().tokens.size());
  return {.request = model.choice.request,
          .segment = static_cast<std::uint32_t>(request.segments.size() - 1),
          .local = prompt + static_cast<std::int32_t>(place)};
}

QString nextTokenSentence(const NextTokenModel& model) {
  if (!model.isComputed()) return {};
  const jobs::NextToken& token = model.shown();
  std::size_t differing = 0;
  double sum = 0;
  for (std::size_t i = 0; i < model.answerTokens; ++i) {
    if (model.differsAt(i)) ++differing;
    sum += (*model.tokens)[i].divergence;
  }
  const QString here =
      model.differsAt(model.place)
          ? tr("Token %1 of the answer, “%2”: the most likely token is “%3” in %4, and “%5” in %6.")
                .arg(model.place + 1)
                .arg(model.texts[model.place], textOf(token, token.ownBest), model.ownName,
                     textOf(token, token.otherBest), model.otherName)
          : tr("Token %1 of the answer, “%2”: the most likely token is “%3” in both.")
                .arg(model.place + 1)
                .arg(model.texts[model.place], textOf(token, token.ownBest));
  return here + QLatin1Char(' ') +
         tr("%1: %2 nats here, %3 on average. The most likely token differs at %4 of %5 tokens.")
             .arg(metricTitle("divergence"))
             .arg(token.divergence, 0, 'f', 4)
             .arg(sum / static_cast<double>(std::max<std::size_t>(1, model.answerTokens)), 0, 'f', 4)
             .arg(differing)
             .arg(model.answerTokens);
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

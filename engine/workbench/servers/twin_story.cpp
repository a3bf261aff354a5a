// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/twin_story.h"

#include "engine/base/counted.h"
#include "engine/run/trace_values.h"

#include <utility>

namespace spanscope::workbench {
namespace {

/// A token that has yet to be sampled is shown as a gap.
std::string tokenText(const text::Tokenizer& tokenizer, TokenId token) {
  return token < 0 ? std::string("…") : tokenizer.display(token);
}

}  // namespace

TwinStory::TwinStory(TwinStoryTitle title, twin::Twin& twin, std::shared_ptr<const text::Tokenizer> tokenizer)
    : m_title(std::move(title)),
      m_twin(twin),
      m_teller({.program = twin::toldProgram(*m_title.server),
                .setup = m_title.setup,
                .model = m_title.model,
                .shape = twin.shape()},
               [tokenizer = std::move(tokenizer)](TokenId token) { return tokenText(*tokenizer, token); }) {}

void TwinStory::note(const twin::ToldRequest& about, std::string text) {
  m_teller.tell(about, trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
}

void TwinStory::tellPrompt(const twin::ToldRequest& about, const ServerPrompt& prompt) {
  m_teller.tell(about, trace::StepStarted{.step = about.step, .copy = prompt.name.second});
  std::vector<trace::SegmentInfo> segments = run::segmentsOf(prompt.table);
  for (trace::SegmentInfo& segment : segments)
    for (const TokenId token : segment.tokens) segment.texts.push_back(m_teller.shown(token));
  m_teller.tell(about, trace::SpanTableLaidOut{.segments = std::move(segments)});
  if (trace::PromptDivided parts = run::partsEvent(prompt.table); !parts.parts.empty())
    m_teller.tell(about, std::move(parts));
  if (prompt.holdsReply)
    note(about, "The prompt holds a reply that has yet to be sampled: it counts with the longest it may be.");
}

void TwinStory::tellAnswer(const twin::ToldRequest& about, const ServerPrompt& prompt,
                           const twin::Answer& answer) {
  if (!answer.place.empty()) note(about, "It goes to " + answer.place + ".");
  for (const twin::FateRun& run : answer.fates) {
    const bool isFound = run.fate == twin::Fate::Found || run.fate == twin::Fate::Moved;
    const std::string which = run.count == 1 ? "Token " + std::to_string(run.begin) + " is "
                                             : "Tokens " + std::to_string(run.begin) + " to " +
                                                   std::to_string(run.begin + run.count - 1) + " are ";
    note(about, which + (isFound ? "found: " : "computed: ") + twin::whyAt(*m_title.server, run.fate) + ".");
  }
  const std::vector<TokenId>& reply = prompt.replyTokens;
  if (!reply.empty() && reply.front() < 0)
    note(about, "The reply is not known yet. " + counted(reply.size(), "unknown token", "unknown tokens") +
                    " take its place.");
  // Its prompt was read, whether a reply is known or not.
  trace::StepFinished finished{
      .step = about.step, .outcome = trace::StepOutcome::EndToken, .text = prompt.reply.text};
  if (answer.isRefused) {
    finished.outcome = trace::StepOutcome::Failed;
  } else if (!prompt.reply.endedItself) {
    finished.outcome = trace::StepOutcome::TokenLimit;
  }
  m_teller.tell(about, std::move(finished));
}

std::vector<twin::Answer> TwinStory::serve(const std::string& queryJson,
                                           const std::vector<ServerPrompt>& prompts) {
  twin::ToldRequest about{.run = ++m_run};
  m_teller.tell(
      about, trace::RunStarted{.queryJson = queryJson, .policy = twin::toldPolicy(m_title.name), .seed = 0});
  trace::PlanMade plan;
  for (StepIndex step = 0; step < prompts.size(); ++step) {
    const StepName& name = prompts[step].name;
    plan.steps.push_back({.step = step, .node = name.first, .copy = name.second, .ply = 0, .needs = {}});
  }
  m_teller.tell(about, std::move(plan));
  std::vector<twin::Answer> answers(prompts.size());
  bool isWhole = true;
  for (const SentPrompt& sent : sentOrder(prompts, m_title.atOnce)) {
    const auto step = static_cast<StepIndex>(sent.index);
    const ServerPrompt& prompt = prompts[step];
    about = {.run = m_run, .request = ++m_request, .node = prompt.name.first, .step = step};
    m_teller.follow(twin::kServedName, about);
    tellPrompt(about, prompt);
    answers[step] = m_twin.serve(
        {.prompt = prompt.tokens(), .reply = prompt.replyTokens, .salt = {}, .isBeside = sent.isBeside},
        &m_teller);
    tellAnswer(about, prompt, answers[step]);
    isWhole = isWhole && !answers[step].isRefused;
  }
  const trace::RunOutcome outcome = isWhole ? trace::RunOutcome::Finished : trace::RunOutcome::Failed;
  m_teller.tell({.run = m_run}, trace::RunFinished{.outcome = outcome, .answer = {}});
  return answers;
}

}  // namespace spanscope::workbench

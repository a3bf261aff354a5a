// SPDX-License-Identifier: GPL-3.0-or-later
// A query as text completions: the prompt is the conversation under a chat template, as text or as tokens.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/completions/completions_protocol.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

using namespace spanscope;
using Json = nlohmann::json;
using remote::test::Server;

namespace {

std::vector<exports::ChatRequest> chatsOf(const char* json) {
  const auto parsed = query::parseJson(json);
  return exports::chatRequests(*parsed.query, 7).requests;
}

const char* const kAsked = R"({"g":{"model":"m","max_tokens":5,"temperature":0.5,"input":{"cross":[)"
                           R"({"system":"You answer."},{"user":"Where?"}]}}})";

std::string textUnder(const char* chat, const char* json) {
  return std::get<std::string>(
      remote::textPrompt(text::chatTemplateNamed(chat))(chatsOf(json).front().messages));
}

}  // namespace

class TestCompletionsRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void promptsAreTheTemplatesText() {
    QCOMPARE(textUnder("chatml", kAsked),
             std::string("<|im_start|>system\nYou answer.<|im_end|>\n<|im_start|>user\nWhere?<|im_end|>\n"
                         "<|im_start|>assistant\n"));
    // What begins every text is put there by the server.
    const std::string llama = textUnder("llama-3", kAsked);
    QVERIFY2(llama.starts_with("<|start_header_id|>system"), llama.c_str());
  }

  void promptsOfTokensAreWhole() {
    const std::string directory = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";
    const text::ChatTemplate& chat = text::findChatTemplate(checkpoint::Checkpoint(directory));
    std::shared_ptr<const text::Tokenizer> tokenizer = text::loadTokenizer(checkpoint::Checkpoint(directory));
    const auto messages = chatsOf(kAsked).front().messages;
    const auto ids = std::get<std::vector<TokenId>>(remote::tokenPrompt(chat, tokenizer)(messages));
    // The ids of each message, between the beginning of the conversation and the generation prompt.
    std::vector<TokenId> expected = text::renderOpening(chat, *tokenizer, true);
    const auto append = [&expected](const std::vector<TokenId>& more) {
      expected.insert(expected.end(), more.begin(), more.end());
    };
    append(text::render(chat, *tokenizer, query::Role::System, "You answer.", text::Place::First).ids);
    append(text::render(chat, *tokenizer, query::Role::User, "Where?").ids);
    append(text::renderPieces(chat.generationPrompt, *tokenizer));
    QVERIFY(ids == expected);
    QVERIFY(ids.size() > 8);
  }

  void theBodyIsACompletions() {
    Server server(
        QByteArray("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                   "data: {\"choices\":[{\"index\":0,\"text\":\"Lis\"}]}\n\n"
                   "data: {\"choices\":[{\"index\":0,\"text\":\"bon\",\"finish_reason\":\"stop\"}]}\n\n"
                   "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,"
                   "\"prompt_tokens_details\":{\"cached_tokens\":0}}}\n\ndata: [DONE]\n\n"));
    remote::RemoteTarget target{.name = "here",
                                .server = {.url = server.address(), .model = {}},
                                .facts = {.version = {}, .models = {{"m", {}}}, .slots = {}}};
    target.protocol = remote::findProtocol("completions");
    target.prompt = remote::textPrompt(text::chatTemplateNamed("chatml"));
    target.promptForm = "under the template chatml, as text";
    remote::HttpClient client;
    remote::RemoteWatcher watcher;
    const remote::RemoteResult result = remote::runRemotely(client, {target}, {}, chatsOf(kAsked), watcher);
    QVERIFY(!result.error);
    QCOMPARE(result.steps[0].answer.text, std::string("Lisbon"));
    QVERIFY(result.steps[0].cached.state == remote::CachedState::MeasuredZero);
    const QByteArray request = server.request();
    QVERIFY(request.startsWith("POST /v1/completions "));
    const Json body = Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
    QVERIFY(!body.contains("messages"));
    QVERIFY(body["prompt"].get<std::string>().ends_with("<|im_start|>assistant\n"));
    QCOMPARE(body["max_tokens"].get<int>(), 5);
    QVERIFY(body.contains("seed") && body["stream"].get<bool>());
    QCOMPARE(remote::protocolText(target),
             std::string("text completions, under the template chatml, as text"));
  }

  /// Without a limit of the query, an answer gets what fits the context: servers end it after 16 tokens.
  void withoutALimitItGetsTheContext() {
    const std::string directory = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";
    const checkpoint::Checkpoint checkpoint(directory);
    const text::ChatTemplate& chat = text::findChatTemplate(checkpoint);
    std::shared_ptr<const text::Tokenizer> tokenizer = text::loadTokenizer(checkpoint);
    const auto requests = chatsOf(R"({"g":{"model":"m","input":{"user":"Where?"}}})");
    const auto tokens =
        std::get<std::vector<TokenId>>(remote::tokenPrompt(chat, tokenizer)(requests.front().messages))
            .size();
    const auto sentTo = [&](remote::PromptWriter prompt, remote::ServerKind kind,
                            std::optional<std::int64_t> context) {
      const remote::Protocol& protocol = *remote::findProtocol("completions");
      const std::vector<std::string> replies;
      const std::string model = "m";
      return Json::parse(protocol
                             .write({.request = requests.front(),
                                     .replies = replies,
                                     .model = model,
                                     .kind = remote::infoOf(kind),
                                     .prompt = prompt,
                                     .context = context})
                             .body);
    };
    using remote::ServerKind;
    const remote::PromptWriter asTokens = remote::tokenPrompt(chat, tokenizer);
    const remote::PromptWriter asText = remote::textPrompt(chat);
    const Json exact = sentTo(asTokens, ServerKind::Vllm, 4096);
    QCOMPARE(exact["max_tokens"].get<std::size_t>(), 4096 - tokens);
    // How many tokens a text has is not known here: the limit fits whatever they are.
    const Json bounded = sentTo(asText, ServerKind::OpenAi, 4096);
    QVERIFY(bounded["max_tokens"].get<std::size_t>() + tokens <= 4096);
    QVERIFY(bounded["max_tokens"].get<std::size_t>() > 3000);
    QVERIFY(!sentTo(asText, ServerKind::OpenAi, std::nullopt).contains("max_tokens"));
  }

  /// vLLM counts the tokens of a text, so that an answer gets all that is left.
  void serversCountTheirTokens() {
    for (const bool counts : {true, false}) {
      Server server([counts](const QByteArray& request) {
        if (request.startsWith("POST /tokenize "))
          return counts ? remote::test::http(200, R"({"count":40,"max_model_len":200})")
                        : remote::test::http(404, "{}");
        return QByteArray(
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
            "data: {\"choices\":[{\"index\":0,\"text\":\"Here\",\"finish_reason\":\"stop\"}]}\n\n");
      });
      remote::RemoteTarget target{
          .name = "here",
          .server = {.url = server.address(), .model = {}},
          .facts = {.kind = remote::ServerKind::Vllm, .version = {}, .models = {{"m", 200}}, .slots = {}}};
      target.protocol = remote::findProtocol("completions");
      target.prompt = remote::textPrompt(text::chatTemplateNamed("chatml"));
      remote::HttpClient client;
      remote::RemoteWatcher watcher;
      const auto requests = chatsOf(R"({"g":{"model":"m","input":{"user":"Where?"}}})");
      QVERIFY(!remote::runRemotely(client, {target}, {}, requests, watcher).error);
      QCOMPARE(server.requests(), 2);
      const QByteArray request = server.request();
      const Json body = Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
      const auto bytes = static_cast<int>(body["prompt"].get<std::string>().size());
      QCOMPARE(body["max_tokens"].get<int>(), counts ? 160 : 200 - bytes - 8);
    }
  }

  /// A prompt that fills the context leaves no room for an answer: nothing is sent.
  void promptsThatDoNotFitAreRefused() {
    for (const int limit : {0, 5}) {
      for (const int tokens : {199, 200, 5000}) {
        std::atomic<int> asked = 0;
        remote::test::ServerOfMany server([&](const QByteArray& request) -> QByteArray {
          if (request.startsWith("POST /tokenize "))
            return remote::test::http(200, "{\"count\":" + QByteArray::number(tokens) + "}");
          ++asked;
          return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                 "data: {\"choices\":[{\"index\":0,\"text\":\"Here\",\"finish_reason\":\"stop\"}]}\n\n";
        });
        remote::RemoteTarget target{
            .name = "here",
            .server = {.url = server.address(), .model = {}},
            .facts = {.kind = remote::ServerKind::Vllm, .version = {}, .models = {{"m", 200}}, .slots = {}}};
        target.protocol = remote::findProtocol("completions");
        target.prompt = remote::textPrompt(text::chatTemplateNamed("chatml"));
        remote::HttpClient client;
        remote::RemoteWatcher watcher;
        const std::string words(300, 'x');
        const std::string most = limit > 0 ? R"("max_tokens":5,)" : "";
        const auto requests =
            chatsOf((R"({"g":{"model":"m",)" + most + R"("input":{"user":")" + words + R"("}}})").c_str());
        const remote::RemoteResult result = remote::runRemotely(client, {target}, {}, requests, watcher);
        QCOMPARE(!result.error, tokens < 200);
        QCOMPARE(asked.load(), tokens < 200 ? 1 : 0);
        if (result.error) QVERIFY(result.error->found.find(std::to_string(tokens)) != std::string::npos);
      }
    }
  }

  void aRoleThatTheTemplateLacksIsSaid() {
    text::ChatTemplate chat = text::chatTemplateNamed("chatml");
    chat.turns[static_cast<std::size_t>(query::Role::System)].reset();
    chat.openingSystem.reset();
    const auto messages = chatsOf(kAsked).front().messages;
    try {
      remote::textPrompt(chat)(messages);
      QFAIL("it was written");
    } catch (const Failure& failure) {
      QVERIFY2(QString::fromUtf8(failure.what()).contains(QStringLiteral("system")), failure.what());
      QCOMPARE(QString::fromStdString(failure.error().place), QStringLiteral("/g/input/cross/0"));
    }
  }
};

SPANSCOPE_TEST(tst_completions_run, TestCompletionsRun)
#include "tst_completions_run.moc"

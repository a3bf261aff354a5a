// SPDX-License-Identifier: GPL-3.0-or-later
// What servers answer to chat completions: the shapes that vLLM, SGLang, llama.cpp, Ollama, LM Studio and
// OpenAI send, and what none of them should.
#include "engine/base/error.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/protocol.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace spanscope;
using remote::CachedState;
using remote::ChatAnswer;
using remote::ServerKind;
using spanscope::product_text::says;

namespace {

/// Adds an event of one chat completion. Returns the text that came with it.
std::string add(ChatAnswer& answer, std::string_view data) {
  std::string pieces;
  for (const remote::AnswerText& came :
       remote::addEvent(*remote::chatProtocol().answers, std::span(&answer, 1), data))
    pieces += came.piece;
  return pieces;
}

}  // namespace

class TestChatAnswer : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void streams_data() {
    QTest::addColumn<QStringList>("events");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("finish");
    QTest::addColumn<qint64>("prompt");
    QTest::addColumn<qint64>("cached");
    QTest::addColumn<qint64>("generated");
    const QString hello =
        R"({"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]})";
    const QString lo =
        R"({"model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]})";
    const QString stop = R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";
    QTest::newRow("vLLM") << QStringList{hello, lo, stop,
                                         R"({"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":2,)"
                                         R"("prompt_tokens_details":{"cached_tokens":32}}})",
                                         "[DONE]"}
                          << "Hello"
                          << "stop" << qint64{40} << qint64{32} << qint64{2};
    QTest::newRow("vLLM without details")
        << QStringList{hello,
                       R"({"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":1,)"
                       R"("prompt_tokens_details":null}})",
                       "[DONE]"}
        << "Hel"
        << "" << qint64{40} << qint64{-1} << qint64{1};
    QTest::newRow("llama.cpp")
        << QStringList{R"({"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}],)"
                       R"("prompt_progress":{"total":40,"cache":12,"processed":40,"time_ms":5}})",
                       hello, lo,
                       R"({"choices":[{"index":0,"delta":{},"finish_reason":"length"}],)"
                       R"("timings":{"cache_n":12,"prompt_n":28,"predicted_n":2}})",
                       "[DONE]"}
        << "Hello"
        << "length" << qint64{40} << qint64{12} << qint64{2};
    QTest::newRow("a completion") << QStringList{R"({"choices":[{"text":"Hel"}]})",
                                                 R"({"choices":[{"text":"lo","finish_reason":"stop"}]})"}
                                  << "Hello"
                                  << "stop" << qint64{-1} << qint64{-1} << qint64{-1};
    QTest::newRow("counts that cannot be")
        << QStringList{hello, R"({"usage":{"prompt_tokens":-4,"completion_tokens":1e300,)"
                              R"("prompt_tokens_details":{"cached_tokens":"7"}}})"}
        << "Hel"
        << "" << qint64{-1} << qint64{-1} << qint64{-1};
    QTest::newRow("fields of other types")
        << QStringList{R"({"choices":{"0":1},"usage":7,"timings":[],"prompt_progress":"x","model":3})",
                       R"({"choices":[{"delta":[],"finish_reason":4,"text":5}]})", R"({"choices":[7]})"}
        << ""
        << "" << qint64{-1} << qint64{-1} << qint64{-1};
  }
  void streams() {
    QFETCH(QStringList, events);
    QFETCH(QString, text);
    QFETCH(QString, finish);
    QFETCH(qint64, prompt);
    QFETCH(qint64, cached);
    QFETCH(qint64, generated);
    ChatAnswer answer;
    std::string pieces;
    for (const QString& event : events) pieces += add(answer, event.toStdString());
    QCOMPARE(QString::fromStdString(answer.text), text);
    QCOMPARE(pieces, answer.text);
    QCOMPARE(QString::fromStdString(answer.finish), finish);
    QCOMPARE(answer.promptTokens.value_or(-1), prompt);
    QCOMPARE(answer.cachedTokens.value_or(-1), cached);
    QCOMPARE(answer.generatedTokens.value_or(-1), generated);
    QCOMPARE(answer.isDone, events.last() == QLatin1String("[DONE]"));
  }

  void reasoningIsKeptApart() {
    ChatAnswer answer;
    add(answer, R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})");
    add(answer, R"({"choices":[{"delta":{"content":"yes"}}]})");
    QCOMPARE(answer.reasoning, std::string("hm"));
    QCOMPARE(answer.text, std::string("yes"));
  }

  void cachedTokensHaveSeveralNames_data() {
    QTest::addColumn<QByteArray>("event");
    const auto row = [](const char* name, const char* event) { QTest::newRow(name) << QByteArray(event); };
    row("details", R"({"usage":{"prompt_tokens":11,"prompt_tokens_details":{"cached_tokens":8}}})");
    row("details of null",
        R"({"usage":{"prompt_tokens":11,"prompt_tokens_details":null,"cached_tokens":8}})");
    row("DeepSeek", R"({"usage":{"prompt_tokens":11,"prompt_cache_hit_tokens":8}})");
    row("Anthropic", R"({"usage":{"prompt_tokens":11,"cache_read_input_tokens":8}})");
    row("Groq", R"({"x_groq":{"usage":{"prompt_tokens":11,"cached_tokens":8}}})");
    row("Moonshot", R"({"choices":[{"index":0,"delta":{},"usage":{"prompt_tokens":11,"cached_tokens":8}}]})");
  }
  void cachedTokensHaveSeveralNames() {
    QFETCH(QByteArray, event);
    ChatAnswer answer;
    add(answer, event.toStdString());
    QCOMPARE(answer.promptTokens.value_or(-1), std::int64_t{11});
    QCOMPARE(answer.cachedTokens.value_or(-1), std::int64_t{8});
  }

  /// An answer that has ended is none where nobody answered.
  void whatIsNoAnswer_data() {
    QTest::addColumn<QByteArray>("choice");
    QTest::addColumn<bool>("isAnswer");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const char* choice, bool isAnswer, const char* said) {
      QTest::newRow(name) << QByteArray(choice) << isAnswer << QString::fromUtf8(said);
    };
    row("text", R"("delta":{"content":"Yes"},"finish_reason":"stop")", true, "");
    row("a token limit", R"("delta":{"content":"Yes"},"finish_reason":"length")", true, "");
    row("a reason that nobody knows", R"("delta":{"content":"Yes"},"finish_reason":"eos_token")", true, "");
    row("no text", R"("delta":{},"finish_reason":"stop")", false, "stop");
    row("an error", R"("delta":{"content":"Yes"},"finish_reason":"error")", false, "error");
    row("a filter", R"("delta":{"content":"Ye"},"finish_reason":"content_filter")", false, "content_filter");
    row("no room there", R"("delta":{"content":"Ye"},"finish_reason":"insufficient_system_resource")", false,
        "insufficient_system_resource");
    row("SGLang's abort", R"("delta":{},"finish_reason":{"type":"abort","message":"out of slots"})", false,
        "out of slots");
    row("a refusal", R"("delta":{"refusal":"I cannot help."},"finish_reason":"stop")", false,
        "I cannot help.");
    row("a refusal as a part",
        R"("message":{"content":[{"type":"refusal","refusal":"I cannot."}]},"finish_reason":"stop")", false,
        "I cannot.");
    row("reasoning alone", R"("delta":{"reasoning":"Let me"},"finish_reason":"length")", false, "length");
    row("reasoning alone in the text", R"("delta":{"content":"<think>Let me"},"finish_reason":"length")",
        false, "length");
    row("reasoning before the text", R"("delta":{"content":"<think>hm</think>\nYes"},"finish_reason":"stop")",
        true, "");
    row("a call of a tool",
        R"("delta":{"tool_calls":[{"index":0,"function":{"name":"weather"}}]},"finish_reason":"tool_calls")",
        false, "weather");
  }
  void whatIsNoAnswer() {
    QFETCH(QByteArray, choice);
    QFETCH(bool, isAnswer);
    QFETCH(QString, said);
    ChatAnswer answer;
    add(answer, (R"({"choices":[{"index":0,)" + choice + "}]}").toStdString());
    add(answer, "[DONE]");
    const std::optional<Error> problem = remote::problemOf(answer);
    QCOMPARE(!problem.has_value(), isAnswer);
    if (problem)
      QVERIFY2(problem->found.find(said.toStdString()) != std::string::npos, problem->found.c_str());
  }

  /// Parts of other types are beside a text, which stays an answer.
  void otherPartsAreKnown() {
    ChatAnswer answer;
    add(answer,
        R"({"choices":[{"index":0,"message":{"content":[{"type":"text","text":"Yes"},{"type":"reference","ids":[3]}]},"finish_reason":"stop"}]})");
    QVERIFY(!remote::problemOf(answer).has_value());
    QCOMPARE(answer.text, std::string("Yes"));
    QVERIFY(answer.noText.find("reference") != std::string::npos);
  }

  /// A single token may be none: a call that only warms a cache.
  void noTextMayBeAnAnswer() {
    ChatAnswer answer;
    add(answer, R"({"choices":[{"index":0,"text":"","finish_reason":"length"}]})");
    QVERIFY(remote::problemOf(answer).has_value());
    QVERIFY(!remote::problemOf(answer, true).has_value());
  }

  void wrongOnesAreRefused_data() {
    QTest::addColumn<QByteArray>("event");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const char* event, const char* said) {
      QTest::newRow(name) << QByteArray(event) << QString::fromUtf8(said);
    };
    row("an error of old vLLM", R"({"object":"error","message":"too long","code":400})", "too long");
    row("an error of the broker",
        R"({"error":{"message":"Provider returned error","metadata":{"raw":"no GPU"}}})", "no GPU");
    row("an error of the choice", R"({"choices":[{"index":0,"delta":{},"error":{"message":"lost"}}]})",
        "lost");
    row("several errors", R"({"errors":[{"message":"one"},{"message":"two"}]})", "one; two");
    row("an error in a list", R"([{"error":{"message":"no quota"}}])", "no quota");
    row("an error without words", R"({"error":{"code":502}})", "502");
    row("a status", R"({"base_resp":{"status_code":1004,"status_msg":"login fail"}})", "login fail");
    row("half", R"({"choices":[)", "needs a chat completion in JSON");
    row("a list", "[]", "needs a chat completion in JSON");
    row("an error", R"({"error":{"message":"out of memory","code":500}})", "out of memory");
    row("an error as text", R"({"error":"model not found"})", "model not found");
    row("no UTF-8", "\xff\xfe{}", "needs a chat completion in JSON");
    row("control characters", "{\"error\":{\"message\":\"a\\u001b[31m\\nb\"}}", "<error-server>");
  }
  void wrongOnesAreRefused() {
    QFETCH(QByteArray, event);
    QFETCH(QString, said);
    ChatAnswer answer;
    try {
      add(answer, event.toStdString());
      QFAIL("it was taken");
    } catch (const Failure& failure) {
      const QString what = QString::fromUtf8(failure.what());
      QVERIFY2(says(what, said), qPrintable(what));
      for (const QChar c : what) QVERIFY(c.unicode() >= 0x20);
    }
    QCOMPARE(answer.text, std::string());
  }

  /// Not said, and cannot be said, are not nothing.
  void fourStates_data() {
    QTest::addColumn<qint64>("cached");
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("state");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, qint64 cached, ServerKind kind, CachedState state,
                        const char* text) {
      QTest::newRow(name) << cached << static_cast<int>(kind) << static_cast<int>(state) << QString(text);
    };
    row("found", 32, ServerKind::Vllm, CachedState::Found, "32");
    row("found by one that never says", 5, ServerKind::LmStudio, CachedState::Found, "5");
    row("none", 0, ServerKind::LlamaCpp, CachedState::MeasuredZero, "0");
    row("silent", -1, ServerKind::Vllm, CachedState::NotReported, "not reported");
    row("silent where it always says", -1, ServerKind::LlamaCpp, CachedState::NotReported, "not reported");
    row("cannot", -1, ServerKind::LmStudio, CachedState::CannotReport, "cannot be reported");
  }
  void fourStates() {
    QFETCH(qint64, cached);
    QFETCH(int, kind);
    QFETCH(int, state);
    QFETCH(QString, text);
    ChatAnswer answer;
    if (cached >= 0) answer.cachedTokens = cached;
    const remote::CachedTokens found =
        remote::cachedOf(answer, remote::infoOf(static_cast<ServerKind>(kind)));
    QCOMPARE(static_cast<int>(found.state), state);
    QCOMPARE(QString::fromStdString(remote::cachedText(found)), text);
  }

  /// A server that found more tokens than the prompt has counts wrongly: nothing is computed of that.
  void countsThatContradictEachOther() {
    ChatAnswer answer;
    answer.promptTokens = 40;
    answer.cachedTokens = 41;
    const remote::CachedTokens found = remote::cachedOf(answer, remote::infoOf(ServerKind::Vllm));
    QVERIFY(found.isInconsistent && found.state == CachedState::NotReported);
    QCOMPARE(found.tokens, std::int64_t{0});
    answer.cachedTokens = 40;
    QVERIFY(!remote::cachedOf(answer, remote::infoOf(ServerKind::Vllm)).isInconsistent);
  }

  void kindsStandInTheirOrder() {
    for (std::size_t i = 0; i < remote::kServerKinds.size(); ++i) {
      QCOMPARE(static_cast<std::size_t>(remote::kServerKinds[i].kind), i);
      QCOMPARE(remote::findServerKind(remote::kServerKinds[i].name), &remote::kServerKinds[i]);
    }
    QVERIFY(remote::findServerKind("tgi") == nullptr);
  }
};

SPANSCOPE_TEST(tst_chat_answer, TestChatAnswer)
#include "tst_chat_answer.moc"

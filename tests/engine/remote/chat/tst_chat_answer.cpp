// SPDX-License-Identifier: GPL-3.0-or-later
// What servers answer to chat completions: the shapes that vLLM, SGLang, llama.cpp, Ollama, LM Studio and
// OpenAI send, and what none of them should.
#include "engine/base/error.h"
#include "engine/remote/chat/chat_answer.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace spanscope;
using remote::CachedState;
using remote::ChatAnswer;
using remote::ServerKind;

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
    for (const QString& event : events) pieces += answer.add(event.toStdString());
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
    answer.add(R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})");
    answer.add(R"({"choices":[{"delta":{"content":"yes"}}]})");
    QCOMPARE(answer.reasoning, std::string("hm"));
    QCOMPARE(answer.text, std::string("yes"));
  }

  void wholeAnswersAreRead() {
    ChatAnswer answer;
    answer.read(
        R"({"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],)"
        R"("usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}})");
    QCOMPARE(answer.text, std::string("Hello"));
    QVERIFY(answer.isDone);
    QVERIFY(
        (remote::cachedOf(answer, remote::infoOf(ServerKind::OpenAi)).state == CachedState::MeasuredZero));
  }

  void wrongOnesAreRefused_data() {
    QTest::addColumn<QByteArray>("event");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const char* event, const char* said) {
      QTest::newRow(name) << QByteArray(event) << QString::fromUtf8(said);
    };
    row("no JSON", "Internal Server Error", "Internal Server Error");
    row("half", R"({"choices":[)", "expected a chat completion in JSON");
    row("a list", "[]", "expected a chat completion in JSON");
    row("an error", R"({"error":{"message":"out of memory","code":500}})", "out of memory");
    row("an error as text", R"({"error":"model not found"})", "model not found");
    row("no UTF-8", "\xff\xfe{}", "expected a chat completion in JSON");
    row("control characters", "{\"error\":{\"message\":\"a\\u001b[31m\\nb\"}}", "an error of the server");
  }
  void wrongOnesAreRefused() {
    QFETCH(QByteArray, event);
    QFETCH(QString, said);
    ChatAnswer answer;
    try {
      answer.add(event.toStdString());
      QFAIL("it was taken");
    } catch (const Failure& failure) {
      const QString what = QString::fromUtf8(failure.what());
      QVERIFY2(what.contains(said), qPrintable(what));
      for (const QChar c : what) QVERIFY(c.unicode() >= 0x20);
    }
    QCOMPARE(answer.text, std::string());
    if (!event.startsWith('{')) QVERIFY_EXCEPTION_THROWN(answer.read(event.toStdString()), Failure);
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

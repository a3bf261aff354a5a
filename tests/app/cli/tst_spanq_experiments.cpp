// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq bench` of the experiments there are.
#include "engine/experiment/experiment.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using nlohmann::json;
using spanscope::product_text::says;
using spanscope::test::spanq;
using spanscope::test::spanqOnTerminal;

class TestSpanqExperiments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyOneIsACommand() {
    for (const spanscope::experiment::Experiment* one : spanscope::experiment::experiments()) {
      const auto help = spanq({"bench", one->name, "--help"});
      QCOMPARE(help.code, 0);
      QVERIFY(help.out.find("Example:") != std::string::npos);
      for (const spanscope::experiment::ExperimentField& field : spanscope::experiment::fieldsOf(*one))
        QVERIFY2(help.out.find(std::string("--") + field.key) != std::string::npos, field.key);
    }
  }

  void writesJsonTableAndPicture() {
    const QTemporaryDir folder;
    const std::string csv = folder.filePath("rag.csv").toStdString();
    const std::string svg = folder.filePath("rag.svg").toStdString();
    const auto run = spanq({"bench", "rag", "--documents", "1,2", "--words", "10", "--repeats", "2",
                            "--policies", "spans", "--json", "--csv", csv, "--picture", svg});
    QCOMPARE(run.code, 0);
    const json found = json::parse(run.out);
    QCOMPARE(found["experiment"].get<std::string>(), std::string("rag"));
    QCOMPARE(found["points"].size(), std::size_t{4});
    QCOMPARE(found["fields"]["documents"].get<std::string>(), std::string("1,2"));
    QFile table(QString::fromStdString(csv));
    QVERIFY(table.open(QIODevice::ReadOnly));
    QCOMPARE(table.readAll().count('\n'), qsizetype{9});  // a header, four places of two measures
    QFile picture(QString::fromStdString(svg));
    QVERIFY(picture.open(QIODevice::ReadOnly));
    QVERIFY(says(QString::fromUtf8(picture.readAll()), "<time-first-token>"));
  }

  void textHasATable() {
    const auto run = spanq({"bench", "relocation", "--tokens", "16", "--repeats", "1"});
    QCOMPARE(run.code, 0);
    QVERIFY(run.out.find("Cost of relocation") != std::string::npos);
    QVERIFY(run.out.find("order swapped") != std::string::npos);
  }

  /// As the help shows it.
  void histogramIsOfAPlace() {
    const std::string help = spanq({"bench", "rag", "--help"}).out;
    QVERIFY2(help.find("--at N ") != std::string::npos, help.c_str());
    const QTemporaryDir folder;
    const auto pictureAt = [&folder](const std::string& place) {
      const QString file = folder.filePath(QString::fromStdString(place + ".svg"));
      const auto run =
          spanq({"bench", "rag", "--documents", "1,2", "--words", "5", "--repeats", "1", "--policies",
                 "spans", "--chart", "histogram", "--at", place, "--picture", file.toStdString()});
      QFile picture(file);
      return run.code == 0 && picture.open(QIODevice::ReadOnly) ? picture.readAll() : QByteArray();
    };
    QVERIFY(pictureAt("1").contains("1 documents"));
    QVERIFY(pictureAt("2").contains("2 documents"));
    for (const char* place : {"documents:1", "nan", "1e999", "-1", ""})
      QCOMPARE(spanq({"bench", "rag", "--at", place}).code, 2);
  }

  /// Where bf16 is multiplied in f32, what the machine needs for it is f32's time.
  void startBesideTheMachine() {
    qputenv("SPANSCOPE_INSTRUCTION_SET", "SSE4");
    const auto run = spanq({"bench", "start", "--arithmetic", "fast", "--tokens", "2", "-r", "1", "--json"});
    qunsetenv("SPANSCOPE_INSTRUCTION_SET");
    QCOMPARE(run.code, 0);
    const json found = json::parse(run.out);
    QVERIFY2(found["multiplied_ms"].is_number(), run.out.c_str());
    QVERIFY(found["multiplied_ms"].get<double>() > 0);
  }

  /// The documents of a query in place of made-up ones, as many as there are.
  void documentsOfAQuery() {
    const std::string file = SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json";
    const auto rag =
        spanq({"bench", "rag", "--query", file, "--policies", "spans", "--repeats", "1", "--json"});
    QCOMPARE(rag.code, 0);
    const json found = json::parse(rag.out);
    QCOMPARE(found["documents_of"].get<std::string>(), file);
    QVERIFY(!found["fields"].contains("words"));
    QVERIFY(found["fields"]["documents"].get<std::string>().starts_with("1,2"));
    const auto many = spanq({"bench", "rag", "--query", file, "--documents", "2,200"});
    QCOMPARE(many.code, 2);
    QVERIFY2(says(many.err, "<documents-under-plus>"), many.err.c_str());
    QCOMPARE(spanq({"bench", "rag", "--query", file, "--words", "20"}).code, 2);
    const auto none = spanq(
        {"bench", "rag", "--query", SPANSCOPE_SOURCE_DIR "/resources/queries/chat.json", "--repeats", "1"});
    QVERIFY(none.code != 0);
    QVERIFY2(none.err.find("no plus") != std::string::npos, none.err.c_str());
    // Nothing to take documents from.
    QCOMPARE(spanq({"bench", "judge", "--query", file}).code, 2);
  }

  /// An augment finds its documents first, with the options that `spanq run` has for it.
  void documentsThatAnAugmentFinds() {
    const std::string file = SPANSCOPE_SOURCE_DIR "/resources/queries/retrieve.yaml";
    std::vector<std::string> arguments{"bench", "rag",       "--query", file,    "--policies",
                                       "spans", "--repeats", "1",       "--json"};
    const auto rag = spanq(arguments);
    QVERIFY2(rag.code == 0, rag.err.c_str());
    const json all = json::parse(rag.out);
    QCOMPARE(all["documents_of"].get<std::string>(), file);
    QVERIFY(all["fields"]["documents"].get<std::string>().starts_with("1,2"));
    arguments.insert(arguments.end(), {"--passages", "2"});
    const auto two = spanq(arguments);
    QVERIFY2(two.code == 0, two.err.c_str());
    QCOMPARE(json::parse(two.out)["fields"]["documents"].get<std::string>(), std::string("1,2"));
    // Where there is none, its options do nothing, which is said.
    const auto unused = spanq({"bench", "rag", "--query", SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json",
                               "--policies", "spans", "--repeats", "1", "--passages", "2"});
    QCOMPARE(unused.code, 0);
    QVERIFY2(says(unused.err, "<none-no-augment>"), unused.err.c_str());
    // Nothing is retrieved without a query.
    QCOMPARE(spanq({"bench", "rag", "--passages", "2"}).code, 2);
  }

  void answersAreJudgedByWhatIsExpected() {
    const QTemporaryDir folder;
    QFile query(folder.filePath("q.json"));
    QVERIFY(query.open(QIODevice::WriteOnly));
    query.write(
        R"({"g":{"model":"m","max_tokens":12,"input":{"cross":[{"system":"Answer from the documents."},
        {"plus":[{"user":"Mira lives in Lisbon."},{"user":"Otto plays the cello."}]},
        {"user":"Where does {name} live?"}]}}})");
    query.close();
    const std::string file = query.fileName().toStdString();
    std::vector<std::string> arguments{"bench",       "accuracy",  "--query",    file,
                                       "--set",       "name=Mira", "--policies", "spans",
                                       "--documents", "2",         "--repeats",  "2"};
    const auto open = spanq(arguments);
    QCOMPARE(open.code, 0);
    QVERIFY2(says(open.out, "<no-expected-answer>"), open.out.c_str());
    arguments.insert(arguments.end(), {"--expect", "Lisbon", "--json"});
    const auto judged = spanq(arguments);
    QCOMPARE(judged.code, 0);
    const json found = json::parse(judged.out);
    QCOMPARE(found["expected"].get<std::string>(), std::string("Lisbon"));
    QCOMPARE(found["points"][0]["holds"]["samples"], json(std::vector<double>{100, 100}));
    QCOMPARE(spanq({"bench", "accuracy", "--expect", "Lisbon"}).code, 2);
    // What is read is not written over.
    arguments.insert(arguments.end(), {"--csv", file});
    QVERIFY(spanq(arguments).code != 0);
    QVERIFY(query.open(QIODevice::ReadOnly));
    QVERIFY(query.readAll().startsWith("{\"g\""));
  }

  /// Tokens are counted before; how long they take is known once the model has run on the device.
  void saysHowLongItTakes() {
    const QTemporaryDir folder;
    const std::string paces = folder.filePath("caches/paces.json").toStdString();
    const std::vector<std::string> arguments{"bench",      "rag",   "--documents", "1,4", "--words", "12",
                                             "--policies", "spans", "--repeats",   "1",   "--json"};
    const auto first = spanqOnTerminal(arguments, paces);
    QCOMPARE(first.code, 0);
    QVERIFY2(says(first.err, "<experiment-time-unknown>"), first.err.c_str());
    const json before = json::parse(first.out)["estimate"];
    QVERIFY(before["seconds"].is_null());
    QVERIFY(before["prompt_tokens"]["least"].get<int>() > 50);
    QCOMPARE(before["generated_tokens"]["most"].get<int>(), 0);
    const auto second = spanqOnTerminal(arguments, paces);
    QVERIFY2(second.err.find("This takes about ") != std::string::npos, second.err.c_str());
    const json after = json::parse(second.out)["estimate"];
    QCOMPARE(after["prompt_tokens"], before["prompt_tokens"]);
    QVERIFY(after["seconds"]["least"].get<double>() > 0);
    // A file or a pipe gets errors and warnings alone.
    QCOMPARE(spanq(arguments).err, std::string());
    // Of another device nothing is known.
    std::vector<std::string> others = arguments;
    others.insert(others.end(), {"--threads", "1"});
    QVERIFY(spanqOnTerminal(others, paces).err.find("unknown") != std::string::npos);
  }

  void wrongValuesAreUsage() {
    const auto run = spanq({"bench", "rag", "--documents", "many"});
    QCOMPARE(run.code, 2);
    QVERIFY(run.err.find("--documents") != std::string::npos);
    QCOMPARE(spanq({"bench", "rag", "--policies", "nothing"}).code, 2);
  }
};

SPANSCOPE_TEST(tst_spanq_experiments, TestSpanqExperiments)
#include "tst_spanq_experiments.moc"

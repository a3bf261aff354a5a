// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq bench` of the experiments there are.
#include "engine/experiment/experiment.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using spanscope::test::spanq;

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
    QVERIFY(picture.readAll().contains("Time to first token of RAG"));
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

  void wrongValuesAreUsage() {
    const auto run = spanq({"bench", "rag", "--documents", "many"});
    QCOMPARE(run.code, 2);
    QVERIFY(run.err.find("--documents") != std::string::npos);
    QCOMPARE(spanq({"bench", "rag", "--policies", "nothing"}).code, 2);
  }
};

SPANSCOPE_TEST(tst_spanq_experiments, TestSpanqExperiments)
#include "tst_spanq_experiments.moc"

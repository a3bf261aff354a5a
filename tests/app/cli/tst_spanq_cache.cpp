// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values that outlive a run of the command line, and the commands that look after them.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using spanscope::product_text::says;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using Json = nlohmann::ordered_json;

namespace fs = std::filesystem;

namespace {

const char* const kFirst = "Mira lives in Lisbon. Mira plays the cello. The lamp gave little light.";
const char* const kSecond = "Tarek is a baker. The pet of Tarek is called Biscuit. The garden needs water.\n";

class Place {
 public:
  std::string path(const std::string& name) const { return (folder() / name).string(); }
  std::string store() const { return path("spans"); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder() / name).parent_path());
    std::ofstream(folder() / name, std::ios::binary) << text;
    return path(name);
  }
  std::vector<fs::path> packs() const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder() / "spans/packs", error))
      found.push_back(entry.path());
    return found;
  }

 private:
  fs::path folder() const { return m_directory.path().toStdString(); }
  QTemporaryDir m_directory;
};

std::string question(const std::vector<std::string>& documents) {
  Json plus = Json::array();
  for (const std::string& text : documents) plus.push_back({{"user", text}});
  const Json query{
      {"g",
       {{"model", "spnl/spanlet"},
        {"input", {{"cross", {{{"system", "Answer."}}, {{"plus", plus}}, {{"user", "Who is a baker?"}}}}}},
        {"max_tokens", 8},
        {"temperature", 0.0}}}};
  return query.dump();
}

Json runOf(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"run", "--json"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Json::parse(spanq(all).out)["runs"][0];
}

std::int64_t cachedIn(const Json& run) {
  return run["steps"][0]["cached"].get<std::int64_t>();
}

}  // namespace

class TestSpanqCache : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oneRunServesTheNext() {
    const Place there;
    const std::string file = there.write("q.json", question({kFirst, kSecond}));
    const std::string swapped = there.write("swapped.json", question({kSecond, kFirst}));
    const Json cold = runOf({file});
    QVERIFY(!fs::exists(there.store()));
    const Json first = runOf({"--cache-dir", there.store(), file});
    QCOMPARE(cachedIn(first), std::int64_t{0});
    const Json next = runOf({"--cache-dir", there.store(), swapped});
    QVERIFY(cachedIn(next) > 30);
    QVERIFY(next["steps"][0]["relocated"].get<std::int64_t>() > 20);
    // All of what was found came from the disk, and is said to.
    QCOMPARE(next["loaded"]["disk"]["tokens"].get<std::int64_t>(), cachedIn(next));
    QVERIFY(!first.contains("loaded"));
    const SpanqResult text = spanq({"run", "--cache-dir", there.store(), swapped});
    QVERIFY(text.out.find("loaded blocks: ") != std::string::npos);
    QVERIFY(text.out.find(" tokens from the disk, ") != std::string::npos);
    const Json again = runOf({"--cache-dir", there.store(), file});
    QCOMPARE(again["answer"], cold["answer"]);
    // Another type of keys and values has none of them; the processor's own has, asked for or not.
    QVERIFY(cachedIn(runOf({"--cache-dir", there.store(), "--kv", "f32", file})) > 30);
    QCOMPARE(cachedIn(runOf({"--cache-dir", there.store(), "--kv", "bf16", file})), std::int64_t{0});
  }

  /// A folder of documents, computed before anybody asks, is found by a query that has them under plus.
  void warmedDocumentsAreFound() {
    const Place there;
    there.write("docs/a.txt", kFirst);
    there.write("docs/more/b.txt", kSecond);
    const SpanqResult warm =
        spanq({"cache", "warm", "--json", "--cache-dir", there.store(), there.path("docs")});
    QCOMPARE(warm.code, 0);
    const Json reported = Json::parse(warm.out);
    QCOMPARE(reported["documents"].size(), std::size_t{2});
    QCOMPARE(reported["documents"][0]["stored_before"].get<int>(), 0);
    const auto tokens = reported["documents"][0]["tokens"].get<std::int64_t>() +
                        reported["documents"][1]["tokens"].get<std::int64_t>();
    const std::string file = there.write("q.json", question({kSecond, kFirst}));
    QCOMPARE(cachedIn(runOf({"--cache-dir", there.store(), file})), tokens);
    // As the text of a file, too.
    const std::string other = there.write(
        "f.json",
        R"({"g":{"model":"m","max_tokens":2,"temperature":0,"input":{"cross":[{"system":"Answer."},)"
        R"({"plus":[{"file":"docs/more/b.txt"},{"file":"docs/a.txt"}]},{"user":"Who?"}]}}})");
    QVERIFY(cachedIn(runOf({"--cache-dir", there.store(), other})) >= tokens);
    const Json second =
        Json::parse(spanq({"cache", "warm", "--json", "--cache-dir", there.store(), there.path("docs")}).out);
    QCOMPARE(second["stored_bytes"].get<int>(), 0);
    QVERIFY(second["documents"][0]["stored_before"].get<std::int64_t>() > 0);
  }

  /// With their markers and pads, for runs whose layout has them.
  void documentsAreWarmedAsALayoutHasThem() {
    const Place there;
    there.write("docs/a.txt", kFirst);
    there.write("docs/b.txt", kSecond);
    const SpanqResult warm = spanq(
        {"cache", "warm", "--json", "--layout", "padded", "--cache-dir", there.store(), there.path("docs")});
    QCOMPARE(warm.code, 0);
    std::int64_t tokens = 0;
    const Json reported = Json::parse(warm.out);
    for (const Json& document : reported["documents"]) {
      tokens += document["tokens"].get<std::int64_t>();
      QCOMPARE(document["tokens"].get<std::int64_t>() % 16, std::int64_t{0});
    }
    const std::string file = there.write("q.json", question({kSecond, kFirst}));
    QCOMPARE(cachedIn(runOf({"--layout", "padded", "--cache-dir", there.store(), file})), tokens);
    QVERIFY(cachedIn(runOf({"--cache-dir", there.store(), file})) < tokens);
  }

  void whatIsNoTextIsToldOf() {
    const Place there;
    there.write("docs/a.txt", kFirst);
    there.write("docs/b.bin", "\xff\xfa\xfe");
    const SpanqResult warm = spanq({"cache", "warm", "--cache-dir", there.store(), there.path("docs")});
    QCOMPARE(warm.code, 1);
    QVERIFY(says(warm.err, "b.bin: Spanscope found <bytes-no-text>"));
    QVERIFY(warm.out.find("a.txt") != std::string::npos);
    QVERIFY(!there.packs().empty());
  }

  void listVerifyExportAndClear() {
    const Place there;
    const std::string file = there.write("q.json", question({kFirst}));
    runOf({"--cache-dir", there.store(), file});
    const Json list = Json::parse(spanq({"cache", "list", "--json", "--cache-dir", there.store()}).out);
    QCOMPARE(list["packs"].size(), std::size_t{1});
    QCOMPARE(list["packs"][0]["model"].get<std::string>(), std::string("spanlet"));
    QCOMPARE(list["packs"][0]["tier"].get<std::string>(), std::string("disk"));
    QVERIFY(list["packs"][0]["age_ms"].get<std::int64_t>() >= 0);
    QCOMPARE(list["bytes"].get<std::uint64_t>(), std::uint64_t(fs::file_size(there.packs().front())));

    const std::string copy = there.path("copy");
    QCOMPARE(spanq({"cache", "export", "--cache-dir", there.store(), copy}).code, 0);
    QVERIFY(cachedIn(runOf({"--cache-dir", copy, file})) > 20);

    QCOMPARE(spanq({"cache", "verify", "--cache-dir", there.store()}).code, 0);
    {
      std::fstream pack(there.packs().front(), std::ios::binary | std::ios::in | std::ios::out);
      pack.seekp(-100, std::ios::end);
      pack.put('!').put('?');
    }
    const SpanqResult damaged = spanq({"cache", "verify", "--cache-dir", there.store()});
    QCOMPARE(damaged.code, 1);
    QVERIFY(damaged.out.find("damaged, removed") != std::string::npos);
    QVERIFY(there.packs().empty());

    QCOMPARE(spanq({"cache", "clear", "--of", "other", "--cache-dir", copy}).out,
             std::string("removed 0 packs, 0.0 MiB\n"));
    QVERIFY(spanq({"cache", "clear", "--cache-dir", copy}).out.find("removed") == 0);
    QCOMPARE(Json::parse(spanq({"cache", "list", "--json", "--cache-dir", copy}).out)["packs"].size(),
             std::size_t{0});
  }

  /// What a run would have had, and no crash: a store that was damaged before.
  void aDamagedStoreIsAWarning() {
    const Place there;
    const std::string file = there.write("q.json", question({kFirst}));
    const Json first = runOf({"--cache-dir", there.store(), file});
    fs::resize_file(there.packs().front(), 1000);
    const SpanqResult result = spanq({"run", "--json", "--cache-dir", there.store(), file});
    QCOMPARE(result.code, 0);
    const Json run = Json::parse(result.out)["runs"][0];
    QCOMPARE(run["answer"], first["answer"]);
    QCOMPARE(cachedIn(run), std::int64_t{0});
  }

  void aFolderOfOthersIsRefused() {
    const Place there;
    const std::string file = there.write("q.json", question({kFirst}));
    fs::create_directories(there.store());
    ::chmod(there.store().c_str(), 0755);
    const SpanqResult result = spanq({"run", "--cache-dir", there.store(), file});
    QCOMPARE(result.code, 1);
    QVERIFY(result.err.find("permissions 755") != std::string::npos);
    QCOMPARE(spanq({"cache", "list", "--cache-dir", there.path("none")}).code, 1);
    QVERIFY(!fs::exists(there.path("none")));
  }

  void loadingIsTimedBesideComputing() {
    const Place there;
    fs::create_directories(there.path("bench"));
    const SpanqResult result = spanq(
        {"bench", "cache", "--json", "--sizes", "40,64", "--repeats", "2", "--folder", there.path("bench")});
    QCOMPARE(result.code, 0);
    const Json rows = Json::parse(result.out)["rows"];
    QCOMPARE(rows.size(), std::size_t{2});
    for (const char* tier : {"host", "disk", "cold_disk"})
      QCOMPARE(rows[1][tier]["loaded_tokens"].get<int>(), 63);
    QCOMPARE(rows[1]["computed"]["loaded_tokens"].get<int>(), 0);
    QVERIFY(fs::is_empty(there.path("bench")));
  }
};

SPANSCOPE_TEST(tst_spanq_cache, TestSpanqCache, QCoreApplication)
#include "tst_spanq_cache.moc"

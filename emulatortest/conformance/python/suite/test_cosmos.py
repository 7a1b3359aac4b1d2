"""What azure-cosmos 3.1.1 must be able to do with cosmosemu.

That is the version that Debian packages (python3-azure-cosmos). Its calls take links: by name, and by rid as _self gives them.
"""

import os
import unittest
import uuid

from azure.cosmos import cosmos_client, documents, errors

ENDPOINT = os.environ["COSMOS_ENDPOINT"]
KEY = os.environ["COSMOS_KEY"]
ACROSS = {"enableCrossPartitionQuery": True}


def connect():
    return cosmos_client.CosmosClient(ENDPOINT, {"masterKey": KEY}, documents.ConnectionPolicy())


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = connect()
        cls.database = cls.client.CreateDatabase({"id": "py-" + uuid.uuid4().hex})
        cls.db = "dbs/" + cls.database["id"]

    @classmethod
    def tearDownClass(cls):
        cls.client.DeleteDatabase(cls.db)

    def container(self, **definition):
        definition = {"id": uuid.uuid4().hex, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}, **definition}
        return self.db + "/colls/" + self.client.CreateContainer(self.db, definition)["id"]

    def refused(self, status, call, *args):
        with self.assertRaises(errors.HTTPFailure) as caught:
            call(*args)
        self.assertEqual(caught.exception.status_code, status)

    def fill(self, container, n=10):
        for i in range(n):
            self.client.CreateItem(container, {"id": str(i), "pk": "p%d" % (i % 4), "n": i, "even": i % 2 == 0})


class Resources(Case):
    def test_account(self):
        account = self.client.GetDatabaseAccount()
        self.assertTrue(account.WritableLocations)

    def test_databases(self):
        self.refused(409, self.client.CreateDatabase, {"id": self.database["id"]})
        self.assertIn(self.database["id"], [d["id"] for d in self.client.ReadDatabases()])
        self.assertEqual([self.database["id"]], [d["id"] for d in self.client.QueryDatabases(
            {"query": "SELECT * FROM root r WHERE r.id = @id", "parameters": [{"name": "@id", "value": self.database["id"]}]})])
        self.refused(404, self.client.ReadDatabase, "dbs/none")

    def test_containers(self):
        link = self.container(defaultTtl=60, uniqueKeyPolicy={"uniqueKeys": [{"paths": ["/name"]}]})
        read = self.client.ReadContainer(link)
        self.assertEqual(60, read["defaultTtl"])
        read["defaultTtl"] = 5
        self.assertEqual(5, self.client.ReplaceContainer(link, read)["defaultTtl"])
        self.assertIn(read["id"], [c["id"] for c in self.client.ReadContainers(self.db)])
        self.client.DeleteContainer(link)
        self.refused(404, self.client.ReadContainer, link)

    def test_offers(self):
        container = self.client.ReadContainer(self.container())
        offers = list(self.client.QueryOffers("SELECT * FROM root r WHERE r.resource = '%s'" % container["_self"]))
        self.assertEqual(1, len(offers))
        offers[0]["content"]["offerThroughput"] = 1000
        self.assertEqual(1000, self.client.ReplaceOffer(offers[0]["_self"], offers[0])["content"]["offerThroughput"])

    def test_links_of_rids(self):
        container = self.client.CreateContainer(self.database["_self"], {"id": uuid.uuid4().hex, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}})
        item = self.client.CreateItem(container["_self"], {"id": "1", "pk": "a"})
        self.assertEqual("1", self.client.ReadItem(item["_self"], {"partitionKey": "a"})["id"])
        item["n"] = 1
        self.assertEqual(1, self.client.ReplaceItem(item["_self"], item)["n"])
        self.assertEqual(["1"], [i["id"] for i in self.client.QueryItems(container["_self"], "SELECT * FROM c", ACROSS)])
        self.client.DeleteItem(item["_self"], {"partitionKey": "a"})
        self.client.DeleteContainer(container["_self"])


class Items(Case):
    def test_life(self):
        container = self.container()
        made = self.client.CreateItem(container, {"id": "1", "pk": "a", "n": 1})
        self.refused(409, self.client.CreateItem, container, {"id": "1", "pk": "a"})
        link = container + "/docs/1"
        self.assertEqual(made["_etag"], self.client.ReadItem(link, {"partitionKey": "a"})["_etag"])
        self.assertEqual(2, self.client.UpsertItem(container, {"id": "1", "pk": "a", "n": 2})["n"])
        stale = {"accessCondition": {"type": "IfMatch", "condition": made["_etag"]}}
        self.refused(412, self.client.ReplaceItem, link, {"id": "1", "pk": "a", "n": 3}, stale)
        self.assertEqual(3, self.client.ReplaceItem(link, {"id": "1", "pk": "a", "n": 3})["n"])
        self.client.DeleteItem(link, {"partitionKey": "a"})
        self.refused(404, self.client.ReadItem, link, {"partitionKey": "a"})
        self.refused(404, self.client.DeleteItem, link, {"partitionKey": "a"})

    def test_an_id_of_its_own(self):
        self.assertEqual(36, len(self.client.CreateItem(self.container(), {"pk": "a"})["id"]))

    def test_unique_keys(self):
        container = self.container(uniqueKeyPolicy={"uniqueKeys": [{"paths": ["/name"]}]})
        self.client.CreateItem(container, {"id": "1", "pk": "a", "name": "x"})
        self.refused(409, self.client.CreateItem, container, {"id": "2", "pk": "a", "name": "x"})
        self.client.CreateItem(container, {"id": "2", "pk": "b", "name": "x"})

    def test_feed(self):
        container = self.container()
        self.fill(container, 7)
        self.assertEqual(7, len(list(self.client.ReadItems(container, {"maxItemCount": 2}))))

    def test_change_feed(self):
        container = self.container()
        self.fill(container)
        seen = []
        for r in self.client._ReadPartitionKeyRanges(container):
            seen += [i["id"] for i in self.client.QueryItemsChangeFeed(container, {"partitionKeyRangeId": r["id"], "isStartFromBeginning": True})]
        self.assertEqual(sorted(map(str, range(10))), sorted(seen))


class Queries(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.items = cls.db + "/colls/" + cls.client.CreateContainer(
            cls.db, {"id": "items", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}})["id"]
        for i in range(20):
            cls.client.CreateItem(cls.items, {"id": "%02d" % i, "pk": "p%d" % (i % 4), "n": i, "tags": ["a", "b"][: i % 3]})

    def ask(self, query, options=ACROSS, **parameters):
        body = {"query": query, "parameters": [{"name": "@" + k, "value": v} for k, v in parameters.items()]}
        return list(self.client.QueryItems(self.items, body, options))

    def test_filter(self):
        self.assertEqual({"17", "18", "19"}, {i["id"] for i in self.ask("SELECT * FROM c WHERE c.n > @n", n=16)})

    def test_one_partition(self):
        self.assertEqual([1, 5, 9, 13, 17], self.ask("SELECT VALUE c.n FROM c ORDER BY c.n", {"partitionKey": "p1"}))

    def test_order(self):
        self.assertEqual(list(range(19, -1, -1)), self.ask("SELECT VALUE c.n FROM c ORDER BY c.n DESC", {**ACROSS, "maxItemCount": 3}))

    def test_top(self):
        self.assertEqual([0, 1, 2], self.ask("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n"))

    def test_aggregates(self):
        # Items in every physical partition: this version fails (KeyError) when one of them has nothing to aggregate.
        container = self.container()
        for i in range(40):
            self.client.CreateItem(container, {"id": str(i), "pk": "p%d" % i, "n": i})
        for function, want in {"COUNT(1)": 40, "SUM(c.n)": 780, "MIN(c.n)": 0, "MAX(c.n)": 39, "AVG(c.n)": 19.5}.items():
            self.assertEqual([want], list(self.client.QueryItems(container, "SELECT VALUE %s FROM c" % function, ACROSS)))

    def test_join(self):
        self.assertEqual(19, len(self.ask("SELECT VALUE t FROM c JOIN t IN c.tags")))

    def test_pages(self):
        self.assertEqual(20, len(self.ask("SELECT * FROM c", {**ACROSS, "maxItemCount": 3})))

    def test_refusals(self):
        self.refused(400, self.ask, "SELECT * FROM")
        self.refused(400, self.ask, "SELECT * FROM c", {})


class Scripts(Case):
    def test_procedures(self):
        container = self.container()
        bodies = {
            "count": ("function () { for (var i = 0; i < 1000; i++) { var was = getContext().getResponse().getBody();"
                      " if (i > 0 && was !== i - 1) throw 'body mismatch'; getContext().getResponse().setBody(i); } }", [], 999),
            "append": ("function () { for (var i = 0; i < 10; i++) { getContext().getResponse().appendValue('Body', i); } }", [], "0123456789"),
            "greet": ("function (input) { getContext().getResponse().setBody('a' + input.temp); }", [{"temp": "so"}], "aso"),
        }
        for name, (body, arguments, want) in bodies.items():
            self.client.CreateStoredProcedure(container, {"id": name, "serverScript": body})
            self.assertEqual(want, self.client.ExecuteStoredProcedure(container + "/sprocs/" + name, arguments, {"partitionKey": "a"}))
        self.assertEqual(3, len(list(self.client.ReadStoredProcedures(container))))
        self.client.DeleteStoredProcedure(container + "/sprocs/greet")
        self.refused(404, self.client.ReadStoredProcedure, container + "/sprocs/greet")

    def test_log(self):
        container = self.container()
        self.client.CreateStoredProcedure(container, {"id": "p", "serverScript": "function () { console.log('the value of %s = %s', 'x', 1); }"})
        self.client.ExecuteStoredProcedure(container + "/sprocs/p", [], {"partitionKey": "a", "enableScriptLogging": True})
        self.assertEqual("the%20value%20of%20x%20%3D%201", self.client.last_response_headers["x-ms-documentdb-script-log-results"])

    def test_triggers(self):
        container = self.container()
        self.client.CreateTrigger(container, {
            "id": "t1", "triggerType": documents.TriggerType.Pre, "triggerOperation": documents.TriggerOperation.All,
            "serverScript": "function () { var item = getContext().getRequest().getBody(); item.id = item.id.toUpperCase() + 't1';"
                            " getContext().getRequest().setBody(item); }"})
        made = self.client.CreateItem(container, {"id": "doc", "pk": "a"}, {"preTriggerInclude": "t1"})
        self.assertEqual("DOCt1", made["id"])

    def test_functions(self):
        container = self.container()
        self.fill(container, 4)
        self.client.CreateUserDefinedFunction(container, {"id": "twice", "body": "function (x) { return x * 2; }"})
        self.assertEqual([0, 2, 4, 6], sorted(self.client.QueryItems(container, "SELECT VALUE udf.twice(c.n) FROM c", ACROSS)))

    def test_conflicts(self):
        self.assertEqual([], list(self.client.ReadConflicts(self.container())))


if __name__ == "__main__":
    unittest.main(verbosity=2)

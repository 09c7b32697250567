console.log("scanferry");
